(** Terms that are zero: rounded to nearest, a tree gives what it gives without them. So the bound may count the others
    only, and an evaluation may pad a sum with zeros. *)
Require Import Reals ZArith Lra List.
From Flocq Require Import Core.
Require Import Etalon.tree Etalon.evaluation Etalon.floats.
Local Open Scope R_scope.

(** The tree without its zero leaves; nothing when no other is there. *)
Fixpoint prune (t : tree) : option tree :=
  match t with
  | Leaf x => if Req_EM_T x 0 then None else Some (Leaf x)
  | Node l r =>
      match prune l, prune r with
      | None, other | other, None => other
      | Some a, Some b => Some (Node a b)
      end
  end.

Section Zeros.

Variables p emin : Z.
Hypothesis p_positive : (0 < p)%Z.
Variable tie : Z -> bool.

Definition rounded_or_zero (t : option tree) : R :=
  match t with None => 0 | Some s => rounded p emin tie s end.

Theorem zeros_do_nothing t : (forall x, In x (leaves t) -> is_float p emin x) ->
  rounded p emin tie t = rounded_or_zero (prune t).
Proof.
  assert (Id : forall v, (forall x, In x (leaves v) -> is_float p emin x) ->
    nearest p emin tie (rounded p emin tie v) = rounded p emin tie v).
  { intros v H. apply nearest_of_float. now apply rounded_is_float. }
  assert (Zero : nearest p emin tie 0 = 0).
  { apply nearest_of_float. apply generic_format_0. }
  induction t as [x|l IHl r IHr]; intros H; simpl.
  - destruct Req_EM_T as [E|E]; simpl; [exact E | reflexivity].
  - assert (Hl : forall x, In x (leaves l) -> is_float p emin x) by (intros; apply H, in_or_app; auto).
    assert (Hr : forall x, In x (leaves r) -> is_float p emin x) by (intros; apply H, in_or_app; auto).
    generalize (Id l Hl) (Id r Hr). rewrite (IHl Hl), (IHr Hr).
    destruct (prune l) as [a|], (prune r) as [b|]; simpl; intros El Er;
      rewrite ?Rplus_0_l, ?Rplus_0_r; auto.
Qed.

Theorem zeros_add_nothing t : total t = match prune t with None => 0 | Some s => total s end.
Proof.
  induction t as [x|l IHl r IHr]; simpl; [destruct Req_EM_T; simpl; congruence|].
  rewrite IHl, IHr. destruct (prune l), (prune r); simpl; ring.
Qed.

End Zeros.
