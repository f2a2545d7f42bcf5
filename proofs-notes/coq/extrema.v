(** The greatest of several numbers, where it is attained once: nearby it is that number, so the derivative is that
    number's. spec/derivative gives everything to the first place of the greatest (`first_extremum`). *)
From Coquelicot Require Import Coquelicot.
Require Import Reals Lia Lra List.
Require Import Etalon.scalar_functions Etalon.curves Etalon.rules_pieces.
Import ListNotations.
Local Open Scope R_scope.

Fixpoint greatest (xs : list R) : R :=
  match xs with
  | [] => 0
  | x :: rest => match rest with [] => x | _ => Rmax x (greatest rest) end
  end.

(** The first place of m. *)
Fixpoint first_place (m : R) (xs : list R) : nat :=
  match xs with
  | [] => 0%nat
  | x :: rest => if Req_EM_T x m then 0%nat else S (first_place m rest)
  end.

(** What place i gives to a tangent. *)
Definition at_first (xs : list R) (i : nat) (t : R) : R :=
  if Nat.eqb i (first_place (greatest xs) xs) then t else 0.

Definition attained_once (xs : list R) : Prop :=
  exists before x after, xs = before ++ x :: after /\ forall y, In y before \/ In y after -> y < x.

Lemma greatest_cons x xs : xs <> [] -> greatest (x :: xs) = Rmax x (greatest xs).
Proof. destruct xs; [congruence | reflexivity]. Qed.

Lemma greatest_below x xs : xs <> [] -> (forall y, In y xs -> y <= x) -> greatest xs <= x.
Proof.
  induction xs as [|a xs IH]; intros N H; [congruence|]. destruct xs as [|b xs].
  - apply H. now left.
  - rewrite greatest_cons by congruence. apply Rmax_lub; [apply H; now left|].
    apply IH; [congruence | intros; apply H; now right].
Qed.

Lemma greatest_is before x after : (forall y, In y before \/ In y after -> y < x) ->
  greatest (before ++ x :: after) = x.
Proof.
  induction before as [|a before IH]; intros H; simpl app.
  - destruct after as [|b after]; [reflexivity|]. rewrite greatest_cons by congruence. apply Rmax_left.
    apply greatest_below; [congruence|]. intros y Hy. apply Rlt_le, H. now right.
  - rewrite greatest_cons by (destruct before; discriminate).
    rewrite IH by (intros y Hy; apply H; simpl; tauto). apply Rmax_right.
    apply Rlt_le, H. left. now left.
Qed.

Lemma first_place_is before x after : (forall y, In y before -> y < x) ->
  first_place x (before ++ x :: after) = length before.
Proof.
  induction before as [|a before IH]; intros H; simpl.
  - destruct Req_EM_T; [reflexivity | contradiction].
  - destruct Req_EM_T as [E|E]; [generalize (H a (or_introl eq_refl)); lra|].
    f_equal. apply IH. intros; apply H; now right.
Qed.

Lemma all_below_near (fs : list (R -> R)) (f : R -> R) s :
  ex_derive f s -> (forall g, In g fs -> ex_derive g s /\ g s < f s) ->
  locally s (fun r => forall y, In y (map (fun g => g r) fs) -> y < f r).
Proof.
  intros Hf. induction fs as [|g fs IH]; intros H; simpl.
  - apply filter_forall. intros r y [].
  - destruct (H g (or_introl eq_refl)) as [Hg L].
    generalize (filter_and _ _ (below_near g f s Hg Hf L) (IH (fun h Hh => H h (or_intror Hh)))).
    apply filter_imp. intros r [A B] y [<-|Hy]; auto.
Qed.

(** The derivative along curves of the greatest. *)
Theorem greatest_rule (fs : list (R -> R)) (ds : list R) s :
  Forall2 (fun f d => is_derive f s d) fs ds -> attained_once (map (fun f => f s) fs) ->
  exists before d after, ds = before ++ d :: after /\
    length before = first_place (greatest (map (fun f => f s) fs)) (map (fun f => f s) fs) /\
    is_derive (fun r => greatest (map (fun f => f r) fs)) s d.
Proof.
  intros H [xb [x [xa [E B]]]].
  apply map_eq_app in E. destruct E as [fb [fr [-> [Eb E]]]]. apply map_eq_cons in E.
  destruct E as [f [fa [-> [Ex Ea]]]].
  apply Forall2_app_inv_l in H. destruct H as [db [dr [Hb [H ->]]]].
  inversion H as [|? d ? da Hd Ha]; subst.
  exists db, d, da. split; [reflexivity|]. split.
  - rewrite map_app. simpl. rewrite greatest_is by exact B.
    rewrite first_place_is by (intros y Hy; apply B; now left).
    rewrite map_length. clear - Hb. induction Hb; simpl; congruence.
  - apply derive_as with f; [|exact Hd].
    assert (Ef : ex_derive f s) by now exists d.
    assert (Each : forall (gs : list (R -> R)) (es : list R), 
      Forall2 (fun g e => is_derive g s e) gs es -> forall g, In g gs -> ex_derive g s).
    { induction 1 as [|g e gs es Hg _ IH]; intros k []; [subst; now exists e | auto]. }
    assert (Lb : locally s (fun r => forall y, In y (map (fun g => g r) fb) -> y < f r)).
    { apply all_below_near; [exact Ef|]. intros g Hg. split; [now apply (Each fb db)|].
      apply B. left. now apply (in_map (fun h : R -> R => h s)). }
    assert (La : locally s (fun r => forall y, In y (map (fun g => g r) fa) -> y < f r)).
    { apply all_below_near; [exact Ef|]. intros g Hg. split; [now apply (Each fa da)|].
      apply B. right. now apply (in_map (fun h : R -> R => h s)). }
    generalize (filter_and _ _ Lb La). apply filter_imp. intros r [A C].
    rewrite map_app. simpl. apply greatest_is. intros y [Hy|Hy]; auto.
Qed.
