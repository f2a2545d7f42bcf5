(** The f that `summation_bound` uses: min(k M, sqrt(k Q), side), where M bounds every magnitude, Q the sum of squares
    of the positive and of the negative parts, and side the sum of either. It bounds the sum of any k terms, so Lemma S
    holds with it. A minimum of some of the three serves as well. *)
Require Import Reals ZArith Lia Lra Psatz List Permutation.
Require Import Etalon.sums Etalon.tree Etalon.chain Etalon.evaluation Etalon.floats.
Import ListNotations.
Local Open Scope R_scope.

Definition positive_part (x : R) : R := Rmax 0 x.
Definition negative_part (x : R) : R := Rmax 0 (- x).
Definition square (x : R) : R := x * x.
Definition sum_of (g : R -> R) (ts : list R) : R := list_sum (map g ts).

Lemma bounds_min f g ts : bounds_partial_sums f ts -> bounds_partial_sums g ts ->
  bounds_partial_sums (fun k => Rmin (f k) (g k)) ts.
Proof. intros Hf Hg some others P. apply Rmin_glb; [apply (Hf _ others P) | apply (Hg _ others P)]. Qed.

Lemma nondecreasing_min f g n : nondecreasing_to n f -> nondecreasing_to n g ->
  nondecreasing_to n (fun k => Rmin (f k) (g k)).
Proof.
  intros Hf Hg i j Hij Hj. specialize (Hf i j Hij Hj). specialize (Hg i j Hij Hj).
  apply Rmin_glb; [apply Rle_trans with (1 := Rmin_l _ _) | apply Rle_trans with (1 := Rmin_r _ _)]; assumption.
Qed.

Lemma sum_of_part g some others ts : (forall x, 0 <= g x) -> Permutation ts (some ++ others) ->
  sum_of g some <= sum_of g ts.
Proof.
  intros Hg P. unfold sum_of. rewrite (list_sum_permutation _ _ (Permutation_map g P)), map_app, list_sum_app.
  enough (0 <= list_sum (map g others)) by lra.
  clear P. induction others as [|x xs IH]; simpl; [lra | generalize (Hg x); lra].
Qed.

Lemma sum_of_nonnegative g ts : (forall x, 0 <= g x) -> 0 <= sum_of g ts.
Proof. intros Hg. unfold sum_of. induction ts as [|x xs IH]; simpl; [lra | generalize (Hg x); lra]. Qed.

Lemma sum_of_at_most g m ts : (forall x, In x ts -> g x <= m) -> sum_of g ts <= INR (length ts) * m.
Proof.
  unfold sum_of. induction ts as [|x xs IH]; intros H; cbn [map list_sum length]; [simpl; lra|].
  rewrite S_INR. generalize (H x (or_introl eq_refl)) (IH (fun y Hy => H y (or_intror Hy))). lra.
Qed.

(** Cauchy-Schwarz against a vector of ones. *)
Lemma square_of_sum g ts : square (sum_of g ts) <= INR (length ts) * sum_of (fun x => square (g x)) ts.
Proof.
  unfold sum_of, square. induction ts as [|x xs IH]; cbn [map list_sum length]; [simpl; lra|].
  rewrite S_INR. set (s := list_sum (map g xs)) in *.
  set (sq := list_sum (map (fun y => g y * g y) xs)) in *. set (k := INR (length xs)) in *.
  assert (K : 0 <= k) by apply pos_INR.
  destruct (Req_dec k 0) as [Z|N].
  - assert (E : xs = []).
    { apply length_zero_iff_nil. apply INR_eq. exact Z. }
    subst xs. unfold s, sq, k in *. simpl. lra.
  - assert (C : 0 <= k * (k * (g x * g x) + sq - 2 * g x * s)).
    { assert (0 <= (k * g x - s) * (k * g x - s)) by apply Rle_0_sqr. nra. }
    assert (D : 0 <= k * (g x * g x) + sq - 2 * g x * s).
    { apply Rmult_le_reg_l with k; [lra|]. rewrite Rmult_0_r. exact C. }
    nra.
Qed.

Lemma parts_of_number x : x = positive_part x - negative_part x.
Proof. unfold positive_part, negative_part, Rmax. do 2 destruct Rle_dec; lra. Qed.

Lemma positive_part_nonnegative x : 0 <= positive_part x.
Proof. apply Rmax_l. Qed.

Lemma negative_part_nonnegative x : 0 <= negative_part x.
Proof. apply Rmax_l. Qed.

(** The magnitude of a sum is at most the larger of its two sides. *)
Lemma sum_of_sides ts : Rabs (list_sum ts) <= Rmax (sum_of positive_part ts) (sum_of negative_part ts).
Proof.
  assert (E : list_sum ts = sum_of positive_part ts - sum_of negative_part ts).
  { unfold sum_of. induction ts as [|x xs IH]; simpl; [ring|]. generalize (parts_of_number x). lra. }
  generalize (sum_of_nonnegative _ ts positive_part_nonnegative) (sum_of_nonnegative _ ts negative_part_nonnegative)
    (Rmax_l (sum_of positive_part ts) (sum_of negative_part ts))
    (Rmax_r (sum_of positive_part ts) (sum_of negative_part ts)).
  rewrite E. intros. apply Rabs_le. lra.
Qed.

Section Fast.

Variable ts : list R.
Variables largest squares side : R.
Hypothesis largest_bounds : forall x, In x ts -> Rabs x <= largest.
Hypothesis squares_bound :
  Rmax (sum_of (fun x => square (positive_part x)) ts) (sum_of (fun x => square (negative_part x)) ts) <= squares.
Hypothesis side_bounds : Rmax (sum_of positive_part ts) (sum_of negative_part ts) <= side.

Definition by_largest (k : nat) : R := INR k * largest.
Definition by_squares (k : nat) : R := sqrt (INR k * squares).
Definition by_side (k : nat) : R := side.
Definition fast (k : nat) : R := Rmin (by_largest k) (Rmin (by_squares k) (by_side k)).

Lemma by_largest_bounds : bounds_partial_sums by_largest ts.
Proof.
  intros some others P. apply Rle_trans with (1 := sum_of_sides some).
  assert (I : forall x, In x some -> Rabs x <= largest).
  { intros x Hx. apply largest_bounds. apply Permutation_in with (1 := Permutation_sym P). apply in_or_app; auto. }
  apply Rmax_lub; apply sum_of_at_most; intros x Hx; apply Rle_trans with (2 := I x Hx);
    unfold positive_part, negative_part; apply Rmax_lub; try apply Rabs_pos; [apply Rle_abs|].
  rewrite <- Rabs_Ropp. apply Rle_abs.
Qed.

Lemma side_by_squares g some others : (forall x, 0 <= g x) -> Permutation ts (some ++ others) ->
  sum_of (fun x => square (g x)) ts <= squares -> sum_of g some <= by_squares (length some).
Proof.
  intros Hg P Hs. unfold by_squares.
  rewrite <- (sqrt_square (sum_of g some)) by now apply sum_of_nonnegative.
  apply sqrt_le_1_alt. apply Rle_trans with (1 := square_of_sum g some).
  apply Rmult_le_compat_l; [apply pos_INR|]. apply Rle_trans with (2 := Hs).
  apply sum_of_part with others; [intros x; apply Rle_0_sqr | exact P].
Qed.

Lemma by_squares_bounds : bounds_partial_sums by_squares ts.
Proof.
  intros some others P. apply Rle_trans with (1 := sum_of_sides some).
  apply Rmax_lub; apply side_by_squares with others; auto using positive_part_nonnegative, negative_part_nonnegative;
    apply Rle_trans with (2 := squares_bound); [apply Rmax_l | apply Rmax_r].
Qed.

Lemma by_side_bounds : bounds_partial_sums by_side ts.
Proof.
  intros some others P. apply Rle_trans with (1 := sum_of_sides some). apply Rle_trans with (2 := side_bounds).
  apply Rmax_lub; [apply Rle_trans with (2 := Rmax_l _ _) | apply Rle_trans with (2 := Rmax_r _ _)];
    apply sum_of_part with others; auto using positive_part_nonnegative, negative_part_nonnegative.
Qed.

Theorem fast_bounds : bounds_partial_sums fast ts.
Proof.
  apply bounds_min; [apply by_largest_bounds|]. apply bounds_min; [apply by_squares_bounds | apply by_side_bounds].
Qed.

Hypothesis largest_nonnegative : 0 <= largest.

Lemma squares_nonnegative : 0 <= squares.
Proof.
  apply Rle_trans with (2 := squares_bound). apply Rle_trans with (2 := Rmax_l _ _).
  apply sum_of_nonnegative. intros x. apply Rle_0_sqr.
Qed.

Lemma side_nonnegative : 0 <= side.
Proof.
  apply Rle_trans with (2 := side_bounds). apply Rle_trans with (2 := Rmax_l _ _).
  apply sum_of_nonnegative. apply positive_part_nonnegative.
Qed.

Lemma fast_nondecreasing n : nondecreasing_to n fast.
Proof.
  apply nondecreasing_min; [|apply nondecreasing_min]; intros i j Hij _.
  - apply Rmult_le_compat_r; [exact largest_nonnegative | now apply le_INR].
  - apply sqrt_le_1_alt. apply Rmult_le_compat_r; [apply squares_nonnegative | now apply le_INR].
  - apply Rle_refl.
Qed.

Lemma fast_nonnegative k : 0 <= fast k.
Proof.
  repeat apply Rmin_glb; [|apply sqrt_pos | apply side_nonnegative].
  apply Rmult_le_pos; [apply pos_INR | exact largest_nonnegative].
Qed.

End Fast.

(** What `summation_bound` relies on, for floats rounded to nearest: s is a bound of |exact sum|, squares and side as
    the class Terms gathers them. *)
Theorem fast_lemma_s p emin tie q t s largest squares side :
  (0 < p)%Z -> (emin <= q)%Z ->
  (forall x, In x (leaves t) -> is_float p emin x /\ multiple q x /\ Rabs x <= largest) ->
  Rmax (sum_of (fun x => square (positive_part x)) (leaves t))
       (sum_of (fun x => square (negative_part x)) (leaves t)) <= squares ->
  Rmax (sum_of positive_part (leaves t)) (sum_of negative_part (leaves t)) <= side ->
  Rabs (total t) <= s ->
  (2 <= size t)%nat -> INR (size t - 1) * unit_roundoff p < 1 ->
  let f := fast largest squares side in
  Rabs (rounded p emin tie t - total t) <=
    Rmin (t0 p f (size t) s) (Rmin (all_nodes p q f (size t) s) (chain_nodes p q f (size t) s)).
Proof.
  intros Hp Hq Ht Hsq Hside Hs Hn Hu f.
  assert (L : 0 <= largest).
  { destruct (leaves t) as [|x xs] eqn:E.
    - generalize (length_leaves t). rewrite E. simpl. generalize (size_positive t). lia.
    - apply Rle_trans with (1 := Rabs_pos x). apply (Ht x). now left. }
  apply lemma_s_to_nearest; auto.
  - intros x Hx. split; apply (Ht x Hx).
  - apply fast_bounds; auto. intros x Hx. apply (Ht x Hx).
  - now apply fast_nondecreasing with (leaves t).
  - intros k. now apply fast_nonnegative with (leaves t).
Qed.
