(** Binary trees over real terms, and how many of their inner nodes can be large: the counting induction of Lemma S,
    part (i). A tree says in which order and grouping a sum is evaluated; nothing here rounds. *)
Require Import Reals Lia Lra List Permutation.
Require Import Etalon.sums.
Import ListNotations.
Local Open Scope R_scope.

Inductive tree : Type :=
  | Leaf (t : R)
  | Node (l r : tree).

Fixpoint leaves (t : tree) : list R :=
  match t with
  | Leaf x => [x]
  | Node l r => leaves l ++ leaves r
  end.

Fixpoint size (t : tree) : nat :=
  match t with
  | Leaf _ => 1%nat
  | Node l r => (size l + size r)%nat
  end.

Fixpoint list_sum (l : list R) : R :=
  match l with
  | [] => 0
  | x :: rest => x + list_sum rest
  end.

(** The exact sum of the leaves. *)
Fixpoint total (t : tree) : R :=
  match t with
  | Leaf x => x
  | Node l r => total l + total r
  end.

(** The sum of phi over the inner nodes, given the exact sum below each. *)
Fixpoint over_nodes (phi : R -> R) (t : tree) : R :=
  match t with
  | Leaf _ => 0
  | Node l r => phi (Rabs (total t)) + over_nodes phi l + over_nodes phi r
  end.

(** How many inner nodes have at least k leaves. *)
Fixpoint nodes_of_size (k : nat) (t : tree) : nat :=
  match t with
  | Leaf _ => 0%nat
  | Node l r => ((if Nat.leb k (size t) then 1 else 0) + nodes_of_size k l + nodes_of_size k r)%nat
  end.

Lemma size_positive t : (1 <= size t)%nat.
Proof. induction t; simpl; lia. Qed.

Lemma length_leaves t : length (leaves t) = size t.
Proof. induction t as [|l IHl r IHr]; simpl; [reflexivity | rewrite app_length; lia]. Qed.

Lemma list_sum_app a b : list_sum (a ++ b) = list_sum a + list_sum b.
Proof. induction a as [|x a IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma list_sum_permutation a b : Permutation a b -> list_sum a = list_sum b.
Proof. induction 1; simpl; lra. Qed.

Lemma total_is_list_sum t : total t = list_sum (leaves t).
Proof. induction t as [|l IHl r IHr]; simpl; [ring | rewrite list_sum_app; congruence]. Qed.

(** The tree-counting induction: at most n - k + 1 inner nodes have k or more leaves. *)
Theorem tree_counting t k : (2 <= k)%nat -> (nodes_of_size k t <= size t + 1 - k)%nat.
Proof.
  intros Hk; induction t as [x|l IHl r IHr]; simpl; [lia|].
  generalize (size_positive l) (size_positive r); intros.
  destruct (Nat.leb_spec k (size l + size r)); lia.
Qed.

(** f(k) bounds the magnitude of the sum of any k of the terms ts. *)
Definition bounds_partial_sums (f : nat -> R) (ts : list R) : Prop :=
  forall some others, Permutation ts (some ++ others) -> Rabs (list_sum some) <= f (length some).

Definition nondecreasing_to (n : nat) (f : nat -> R) : Prop :=
  forall i j, (i <= j)%nat -> (j <= n)%nat -> f i <= f j.

Definition nondecreasing (phi : R -> R) : Prop := forall x y, 0 <= x -> x <= y -> phi x <= phi y.

Lemma bounds_left f l r :
  bounds_partial_sums f (leaves l ++ leaves r) -> bounds_partial_sums f (leaves l).
Proof.
  intros H some others P. apply (H some (others ++ leaves r)).
  rewrite app_assoc. now apply Permutation_app_tail.
Qed.

Lemma bounds_right f l r :
  bounds_partial_sums f (leaves l ++ leaves r) -> bounds_partial_sums f (leaves r).
Proof.
  intros H. apply (bounds_left f r l). intros some others P. apply (H some others).
  apply Permutation_trans with (2 := P). apply Permutation_app_comm.
Qed.

Lemma bounds_all f t : bounds_partial_sums f (leaves t) -> Rabs (total t) <= f (size t).
Proof.
  intros H. rewrite total_is_list_sum, <- length_leaves. apply (H _ []). now rewrite app_nil_r.
Qed.

(** Lemma S (i): the inner nodes cost at most phi(f(2)) + ... + phi(f(n)). *)
Theorem nodes_cost f phi t :
  bounds_partial_sums f (leaves t) -> nondecreasing_to (size t) f -> (forall k, 0 <= f k) -> nondecreasing phi ->
  over_nodes phi t <= from_two (fun k => phi (f k)) (size t).
Proof.
  intros Hf Hm H0 Hphi. induction t as [x|l IHl r IHr]; [unfold from_two; simpl; lra|].
  generalize (size_positive l) (size_positive r); intros Hl Hr.
  set (n := size (Node l r)) in *. assert (Hn : n = (size l + size r)%nat) by reflexivity.
  assert (Hg : forall i j, (i <= j)%nat -> (1 <= i)%nat -> (j <= size l + size r)%nat -> phi (f i) <= phi (f j)).
  { intros i j Hij _ Hj. apply Hphi; [apply H0|]. apply Hm; lia. }
  assert (Hroot : phi (Rabs (total (Node l r))) <= phi (f n)).
  { apply Hphi; [apply Rabs_pos|]. now apply (bounds_all f (Node l r)). }
  assert (Hleft : over_nodes phi l <= from_two (fun k => phi (f k)) (size l)).
  { apply IHl; [now apply bounds_left with r | intros i j; intros; apply Hm; lia]. }
  assert (Hright : over_nodes phi r <= from_two (fun k => phi (f k)) (size r)).
  { apply IHr; [now apply bounds_right with l | intros i j; intros; apply Hm; lia]. }
  generalize (from_two_superadditive (fun k => phi (f k)) (size l) (size r) Hg Hl Hr); intros Hs.
  rewrite (from_two_split _ (n - 1) n) by lia.
  replace (n - (n - 1))%nat with 1%nat by lia. simpl sum_from. replace (n - 1 + 1)%nat with n by lia.
  change (over_nodes phi (Node l r))
    with (phi (Rabs (total (Node l r))) + over_nodes phi l + over_nodes phi r).
  rewrite <- Hn in Hs. lra.
Qed.
