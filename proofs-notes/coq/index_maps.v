(** Index maps and their adjoints. An equation reads a tensor x at the place k(i) that its index i names, where a guard
    holds. The adjoint gives each element j of x the sum over all i that read it: a guarded sum with an equality of
    indices, as `gathered` in spec/derivative/vjp.cpp writes it. Gather and scatter-add, slices, paddings,
    transpositions, reversals, broadcasts and their sums are such maps; indices are row-major numbers. *)
Require Import Reals Lia Lra Bool Arith.
Require Import Etalon.sums.
Local Open Scope R_scope.

(** The pairing of two tensors of n elements. *)
Definition pairing (n : nat) (a b : nat -> R) : R := sum_from 0 n (fun i => a i * b i).

Section Map.

Variables m n : nat.
Variable k : nat -> nat.
Variable guard : nat -> bool.
Hypothesis in_range : forall i, (i < m)%nat -> guard i = true -> (k i < n)%nat.

Definition gather (x : nat -> R) (i : nat) : R := if guard i then x (k i) else 0.
Definition scatter_add (y : nat -> R) (j : nat) : R :=
  sum_from 0 m (fun i => if guard i && Nat.eqb (k i) j then y i else 0).

Lemma sum_zero a l (g : nat -> R) : (forall i, (a <= i < a + l)%nat -> g i = 0) -> sum_from a l g = 0.
Proof.
  revert a. induction l as [|l IH]; intros a H; simpl; [reflexivity|].
  rewrite H by lia. rewrite IH; [ring | intros; apply H; lia].
Qed.

Lemma sum_pick a l j (g : nat -> R) : (a <= j < a + l)%nat ->
  sum_from a l (fun i => if Nat.eqb j i then g i else 0) = g j.
Proof.
  revert a. induction l as [|l IH]; intros a H; [lia|]. simpl. destruct (Nat.eqb_spec j a) as [E|E].
  - subst a. rewrite sum_zero; [ring|]. intros i Hi. destruct (Nat.eqb_spec j i); [lia | reflexivity].
  - rewrite IH by lia. ring.
Qed.

Lemma sum_exchange a l b r (g : nat -> nat -> R) :
  sum_from a l (fun i => sum_from b r (fun j => g i j)) = sum_from b r (fun j => sum_from a l (fun i => g i j)).
Proof.
  revert a. induction l as [|l IH]; intros a; simpl.
  - rewrite (sum_zero b r (fun _ => 0)); auto.
  - rewrite IH, sum_from_plus. reflexivity.
Qed.

(** The adjoint identity. *)
Theorem gather_scatter x y : pairing m (gather x) y = pairing n x (scatter_add y).
Proof.
  unfold pairing, scatter_add.
  transitivity (sum_from 0 m (fun i => sum_from 0 n (fun j =>
    x j * (if guard i && Nat.eqb (k i) j then y i else 0)))).
  - apply sum_from_eq. intros i Hi. simpl. unfold gather. destruct (guard i) eqn:G; simpl.
    + rewrite (sum_from_eq _ (fun j => if Nat.eqb (k i) j then x j * y i else 0) 0 0).
      * rewrite sum_pick; [reflexivity|]. generalize (in_range i Hi G). lia.
      * intros j _. destruct (Nat.eqb (k i) (0 + j)); ring.
    + rewrite sum_zero; [ring | intros; ring].
  - rewrite sum_exchange. apply sum_from_eq. intros j _. apply sum_from_scale.
Qed.

End Map.

(** A broadcast reads one element everywhere; its adjoint is the sum. *)
Theorem broadcast_sum m x y :
  scatter_add m (fun _ => 0%nat) (fun _ => true) y 0 = sum_from 0 m y /\
  pairing m (gather (fun _ => 0%nat) (fun _ => true) x) y = x 0%nat * sum_from 0 m y.
Proof.
  split.
  - apply sum_from_eq. intros i _. reflexivity.
  - unfold pairing, gather. simpl. now rewrite <- sum_from_scale.
Qed.

(** A broadcast along the rows of r x c elements; its adjoint sums each column. *)
Theorem broadcast_rows r c y j : (j < c)%nat ->
  scatter_add (r * c) (fun i => i mod c)%nat (fun _ => true) y j = sum_from 0 r (fun i => y (i * c + j)%nat).
Proof.
  intros Hj. unfold scatter_add. simpl. induction r as [|r IH]; [reflexivity|].
  rewrite sum_from_last. simpl Nat.mul. rewrite (Nat.add_comm c (r * c)), sum_from_split, IH. f_equal.
  rewrite (sum_from_eq _ (fun i => if Nat.eqb j i then y (r * c + i)%nat else 0) (0 + r * c) 0).
  - rewrite (sum_pick 0 c j (fun i => y (r * c + i)%nat)) by lia. reflexivity.
  - intros i Hi. simpl. rewrite (Nat.add_comm (r * c) i), Nat.mod_add, Nat.mod_small by lia.
    rewrite (Nat.eqb_sym i j), (Nat.add_comm i (r * c)). reflexivity.
Qed.

(** A permutation: the adjoint reads along the inverse. *)
Theorem permutation_inverse n k inverse y j :
  (forall i, (i < n)%nat -> (k i < n)%nat /\ inverse (k i) = i) ->
  (forall i, (i < n)%nat -> (inverse i < n)%nat /\ k (inverse i) = i) ->
  (j < n)%nat -> scatter_add n k (fun _ => true) y j = y (inverse j).
Proof.
  intros Hk Hi Hj. unfold scatter_add. simpl.
  rewrite (sum_from_eq _ (fun i => if Nat.eqb (inverse j) i then y i else 0) 0 0).
  - apply sum_pick. generalize (proj1 (Hi j Hj)). lia.
  - intros i Hin. simpl. destruct (Nat.eqb_spec (k i) j) as [E|E], (Nat.eqb_spec (inverse j) i) as [F|F]; auto.
    + exfalso. apply F. rewrite <- E. apply (Hk i Hin).
    + exfalso. apply E. rewrite <- F. apply (Hi j Hj).
Qed.
