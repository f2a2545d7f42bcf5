(** The f of `summation_bound_chain`: f(k) is the larger of the sums of the k largest positive and negative parts. It
    bounds the sum of any k terms. *)
Require Import Reals ZArith Lia Lra List Permutation.
Require Import Etalon.sums Etalon.tree Etalon.evaluation Etalon.floats Etalon.fast Etalon.summation.
Import ListNotations.
Local Open Scope R_scope.

Fixpoint descending (l : list R) : Prop :=
  match l with
  | [] => True
  | x :: rest => (forall y, In y rest -> y <= x) /\ descending rest
  end.

Definition of_largest (l : list R) (k : nat) : R := list_sum (firstn k l).

Lemma of_largest_step l k : (forall y, In y l -> 0 <= y) -> of_largest l k <= of_largest l (S k).
Proof.
  unfold of_largest. revert k. induction l as [|x l IH]; intros k H; [rewrite !firstn_nil; simpl; lra|].
  destruct k as [|k]; [simpl; generalize (H x (or_introl eq_refl)); lra|].
  rewrite !firstn_cons. cbn [list_sum]. generalize (IH k (fun y Hy => H y (or_intror Hy))). lra.
Qed.

Lemma of_largest_cons x l k : 0 <= x -> (forall y, In y l -> y <= x) -> of_largest l k <= of_largest (x :: l) k.
Proof.
  unfold of_largest. intros Hx. revert x Hx k. induction l as [|z l IH]; intros x Hx k H.
  - destruct k as [|k]; simpl; [lra | rewrite firstn_nil; simpl; lra].
  - destruct k as [|k]; [simpl; lra|]. rewrite !firstn_cons. cbn [list_sum].
    destruct (Rle_dec 0 z) as [Z|Z].
    + destruct k as [|k]; [simpl; generalize (H z (or_introl eq_refl)); lra|].
      rewrite !firstn_cons. cbn [list_sum]. generalize (H z (or_introl eq_refl)); intros Zx.
      assert (T : list_sum (firstn (S k) l) <= x + list_sum (firstn k l)).
      { generalize (IH x Hx (S k) (fun y Hy => H y (or_intror Hy))). rewrite firstn_cons. simpl. lra. }
      lra.
    + destruct k as [|k]; [simpl; lra|]. rewrite !firstn_cons. cbn [list_sum].
      generalize (IH x Hx (S k) (fun y Hy => H y (or_intror Hy))). rewrite firstn_cons. cbn [list_sum]. lra.
Qed.

Lemma some_below_largest l : (forall y, In y l -> 0 <= y) -> descending l ->
  forall some others, Permutation l (some ++ others) -> list_sum some <= of_largest l (length some).
Proof.
  induction l as [|x l IH]; intros H0 D some others P.
  - apply Permutation_nil in P. apply app_eq_nil in P. destruct P as [-> _]. unfold of_largest. simpl. lra.
  - destruct D as [Hx Hd]. assert (H0' : forall y, In y l -> 0 <= y) by (intros; apply H0; now right).
    assert (I : In x (some ++ others)) by (apply Permutation_in with (1 := P); now left).
    apply in_app_or in I. destruct I as [I|I]; apply in_split in I; destruct I as [a [b E]]; subst.
    + rewrite <- app_assoc in P. simpl in P. apply Permutation_cons_app_inv in P.
      rewrite app_assoc in P. specialize (IH H0' Hd (a ++ b) others P).
      rewrite list_sum_app in *. cbn [list_sum]. rewrite app_length in *. simpl length.
      replace (length a + S (length b))%nat with (S (length a + length b)) by lia.
      unfold of_largest in *. rewrite firstn_cons. cbn [list_sum]. lra.
    + rewrite app_assoc in P. apply Permutation_cons_app_inv in P. rewrite <- app_assoc in P.
      specialize (IH H0' Hd some (a ++ b) P). apply Rle_trans with (1 := IH).
      apply of_largest_cons; [apply H0; now left | exact Hx].
Qed.

Lemma larger_of a b c d : a <= c -> b <= d -> Rmax a b <= Rmax c d.
Proof.
  intros. apply Rmax_lub; [apply Rle_trans with (2 := Rmax_l _ _) | apply Rle_trans with (2 := Rmax_r _ _)]; assumption.
Qed.

(** f(k), given the two sides in descending order. *)
Definition larger_side (positive negative : list R) (k : nat) : R :=
  Rmax (of_largest positive k) (of_largest negative k).

Section Sides.

Variables ts positive negative : list R.
Hypothesis positive_sorted : Permutation (map positive_part ts) positive /\ descending positive.
Hypothesis negative_sorted : Permutation (map negative_part ts) negative /\ descending negative.

Lemma side_nonnegative g side : (forall x, 0 <= g x) -> Permutation (map g ts) side -> forall y, In y side -> 0 <= y.
Proof.
  intros Hg P y Hy. apply (Permutation_in _ (Permutation_sym P)) in Hy. apply in_map_iff in Hy.
  destruct Hy as [x [<- _]]. apply Hg.
Qed.

Theorem larger_side_bounds : bounds_partial_sums (larger_side positive negative) ts.
Proof.
  intros some others P. apply Rle_trans with (1 := sum_of_sides some).
  destruct positive_sorted as [Pp Dp]. destruct negative_sorted as [Pn Dn].
  assert (Side : forall g side, (forall x, 0 <= g x) -> Permutation (map g ts) side -> descending side ->
    sum_of g some <= of_largest side (length some)).
  { intros g side Hg Q D. unfold sum_of. rewrite <- (map_length g some).
    apply some_below_largest with (map g others); [now apply side_nonnegative with g | exact D |].
    apply Permutation_trans with (1 := Permutation_sym Q). rewrite <- map_app. now apply Permutation_map. }
  apply larger_of; apply Side; auto using positive_part_nonnegative, negative_part_nonnegative.
Qed.

Theorem larger_side_nondecreasing n : nondecreasing_to n (larger_side positive negative).
Proof.
  intros i j Hij _. destruct positive_sorted as [Pp _]. destruct negative_sorted as [Pn _].
  induction Hij as [|j Hij IH]; [apply Rle_refl|]. apply Rle_trans with (1 := IH).
  apply larger_of; apply of_largest_step;
    [apply side_nonnegative with positive_part | apply side_nonnegative with negative_part];
    auto using positive_part_nonnegative, negative_part_nonnegative.
Qed.

Lemma larger_side_nonnegative k : 0 <= larger_side positive negative k.
Proof.
  apply Rle_trans with (2 := larger_side_nondecreasing k 0%nat k ltac:(lia) ltac:(lia)).
  unfold larger_side, of_largest. simpl. apply Rmax_l.
Qed.

End Sides.

(** What `summation_bound_chain` computes for the terms themselves. *)
Theorem chain_bound_holds p q t y positive negative :
  evaluates p q t y -> (forall x, In x (leaves t) -> multiple q x) ->
  Permutation (map positive_part (leaves t)) positive -> descending positive ->
  Permutation (map negative_part (leaves t)) negative -> descending negative ->
  (2 <= size t)%nat -> INR (size t - 1) * unit_roundoff p < 1 ->
  Rabs (y - total t) <= lemma p q (size t) (Rabs (total t)) (larger_side positive negative).
Proof.
  intros Hy Hq Pp Dp Pn Dn Hn Hu. apply lemma_bounds; auto using Rle_refl.
  - now apply larger_side_bounds.
  - now apply larger_side_nondecreasing with (leaves t).
  - intros k. now apply larger_side_nonnegative with (leaves t).
Qed.
