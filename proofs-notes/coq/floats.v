(** Floating-point numbers of precision p whose least exponent is emin (Flocq's FLT: eta = 2^emin, no overflow), rounded
    to nearest with any rule for ties. R1: the error of a rounding is at most max(u ufp(x), eta/2); R2: multiples of 2^q
    of magnitude at most 2^(p+q) are numbers of the format, so sums of them are exact in any order. *)
Require Import Reals ZArith Lia Lra List.
From Flocq Require Import Core Plus_error.
Require Import Etalon.sums Etalon.tree Etalon.evaluation.
Local Open Scope R_scope.

Section Floats.

Variables p emin : Z.
Hypothesis p_positive : (0 < p)%Z.
Variable tie : Z -> bool.

Local Instance some_precision : Prec_gt_0 p := p_positive.

Definition is_float (x : R) : Prop := generic_format radix2 (FLT_exp emin p) x.
Definition nearest (x : R) : R := round radix2 (FLT_exp emin p) (Znearest tie) x.

(** R1 *)
Theorem rounding_error x :
  Rabs (nearest x - x) <= Rmax (unit_roundoff p * ufp x) (pow2 emin / 2).
Proof.
  unfold nearest. apply Rle_trans with (1 := error_le_half_ulp radix2 (FLT_exp emin p) tie x).
  unfold ufp. case Req_bool_spec; intros Hx.
  - apply Rle_trans with (2 := Rmax_r _ _). rewrite Hx, (ulp_FLT_0 radix2 emin p). lra.
  - rewrite ulp_neq_0 by exact Hx. unfold cexp, FLT_exp.
    destruct (Z.max_spec (mag radix2 x - p) emin) as [[_ H]|[_ H]]; rewrite H.
    + apply Rle_trans with (2 := Rmax_r _ _). lra.
    + apply Rle_trans with (2 := Rmax_l _ _). right. unfold unit_roundoff.
      replace (/ 2) with (pow2 (-1)) by (simpl; lra). rewrite <- !bpow_plus. f_equal. lia.
Qed.

(** R2 *)
Theorem grid_is_exact q x : (emin <= q)%Z -> multiple q x -> Rabs x <= pow2 (p + q) -> is_float x.
Proof.
  intros Hq [m Hm] Hx. unfold is_float.
  assert (M : Rabs (IZR m) <= pow2 p).
  { apply Rmult_le_reg_r with (pow2 q); [apply bpow_gt_0|]. rewrite <- bpow_plus.
    rewrite <- (Rabs_pos_eq (pow2 q) (bpow_ge_0 _ _)) at 1. rewrite <- Rabs_mult, <- Hm. exact Hx. }
  destruct (Rle_lt_or_eq_dec _ _ M) as [Less|Equal].
  - apply generic_format_FLT. exists (Float radix2 m q); [exact Hm | | exact Hq].
    apply lt_IZR. rewrite abs_IZR, IZR_Zpower by lia. exact Less.
  - assert (P : generic_format radix2 (FLT_exp emin p) (pow2 (p + q))).
    { apply generic_format_FLT_bpow; [exact some_precision | lia]. }
    replace x with (IZR m * pow2 q) by now symmetry.
    destruct (Rle_lt_dec 0 (IZR m)) as [S|S].
    + rewrite Rabs_pos_eq in Equal by exact S. rewrite Equal, <- bpow_plus. exact P.
    + rewrite Rabs_left in Equal by exact S. replace (IZR m) with (- pow2 p) by lra.
      rewrite Ropp_mult_distr_l_reverse, <- bpow_plus. now apply generic_format_opp.
Qed.

Theorem rounding_keeps_grid q x : multiple q x -> multiple q (nearest x).
Proof.
  intros [m Hm]. unfold nearest. set (e := cexp radix2 (FLT_exp emin p) x).
  destruct (Z_le_gt_dec q e) as [H|H].
  - exists (Znearest tie (scaled_mantissa radix2 (FLT_exp emin p) x) * 2 ^ (e - q))%Z.
    unfold round, F2R. simpl. fold e. rewrite mult_IZR, (IZR_Zpower radix2) by lia.
    rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
  - exists m. rewrite <- Hm. apply round_generic; [apply valid_rnd_N|].
    replace x with (F2R (Float radix2 m q)) by (unfold F2R; simpl; now symmetry).
    apply generic_format_F2R. intros _. unfold F2R; simpl. rewrite <- Hm. fold e. lia.
Qed.

(** The product of multiples of 2^q and 2^r is one of 2^(q + r). *)
Theorem product_keeps_grid q r x y : multiple q x -> multiple r y -> multiple (q + r) (x * y).
Proof. intros [m Hm] [k Hk]. exists (m * k)%Z. rewrite mult_IZR, bpow_plus, Hm, Hk. ring. Qed.

Lemma nearest_is_float x : is_float (nearest x).
Proof. apply generic_format_round; typeclasses eauto. Qed.

Lemma nearest_of_float x : is_float x -> nearest x = x.
Proof. intros H. apply round_generic; [apply valid_rnd_N | exact H]. Qed.

(** An addition of two floats rounds with error at most u ufp: the sum is exact where it would be subnormal. *)
Theorem addition_conforms q a b : (emin <= q)%Z -> is_float a -> is_float b -> adds_to p q (a + b) (nearest (a + b)).
Proof.
  intros Hq Ha Hb. split; [|split].
  - destruct (Rle_lt_dec (Rabs (a + b)) (pow2 (p + emin))) as [Small|Big].
    + rewrite nearest_of_float by now apply FLT_format_plus_small.
      rewrite Rminus_eq_0, Rabs_R0. apply Rmult_le_pos; [apply bpow_ge_0 | apply ufp_nonnegative].
    + assert (N : a + b <> 0).
      { intros E. rewrite E, Rabs_R0 in Big. generalize (bpow_gt_0 radix2 (p + emin)); lra. }
      generalize (error_le_half_ulp radix2 (FLT_exp emin p) tie (a + b)). fold (nearest (a + b)).
      rewrite ulp_neq_0 by exact N. unfold cexp, FLT_exp.
      assert (M : (p + emin < mag radix2 (a + b))%Z).
      { apply lt_bpow with radix2. apply Rlt_trans with (1 := Big). now apply bpow_mag_gt. }
      rewrite Z.max_l by lia. intros H. apply Rle_trans with (1 := H). right.
      unfold unit_roundoff, ufp. rewrite Req_bool_false by exact N.
      replace (/ 2) with (pow2 (-1)) by (simpl; lra). rewrite <- !bpow_plus. f_equal. lia.
  - apply rounding_keeps_grid.
  - intros G S. apply nearest_of_float. now apply grid_is_exact with q.
Qed.

(** The value of a tree with a rounding after each addition. *)
Fixpoint rounded (t : tree) : R :=
  match t with
  | Leaf x => x
  | Node l r => nearest (rounded l + rounded r)
  end.

Lemma rounded_is_float t : (forall x, In x (leaves t) -> is_float x) -> is_float (rounded t).
Proof.
  destruct t as [x|l r]; intros H; [apply H; now left | apply nearest_is_float].
Qed.

(** Rounding to nearest is a conforming evaluation. *)
Theorem rounded_evaluates q t : (emin <= q)%Z -> (forall x, In x (leaves t) -> is_float x) ->
  evaluates p q t (rounded t).
Proof.
  intros Hq. induction t as [x|l IHl r IHr]; intros H; simpl; [constructor|].
  assert (Hl : forall x, In x (leaves l) -> is_float x) by (intros; apply H, in_or_app; auto).
  assert (Hr : forall x, In x (leaves r) -> is_float x) by (intros; apply H, in_or_app; auto).
  econstructor; [apply IHl, Hl | apply IHr, Hr |].
  apply addition_conforms; auto using rounded_is_float.
Qed.

(** Lemma S for floats, rounded to nearest, in any order. *)
Theorem lemma_s_to_nearest q f t s :
  (emin <= q)%Z -> (forall x, In x (leaves t) -> is_float x /\ multiple q x) ->
  bounds_partial_sums f (leaves t) -> nondecreasing_to (size t) f -> (forall k, 0 <= f k) ->
  Rabs (total t) <= s ->
  (2 <= size t)%nat -> INR (size t - 1) * unit_roundoff p < 1 ->
  Rabs (rounded t - total t) <=
    Rmin (t0 p f (size t) s) (Rmin (all_nodes p q f (size t) s) (chain_nodes p q f (size t) s)).
Proof.
  intros Hq Ht Hf Hm H0 Hs Hn Hu. apply lemma_s; auto.
  - apply rounded_evaluates; auto. intros x Hx; now apply Ht.
  - intros x Hx; now apply Ht.
Qed.

(** Exactness: where the magnitudes add up to at most 2^(p+q), every order gives the exact sum. *)
Theorem sums_on_grid_are_exact q t : (emin <= q)%Z -> (forall x, In x (leaves t) -> multiple q x) ->
  list_sum (map Rabs (leaves t)) <= pow2 (p + q) -> rounded t = total t.
Proof.
  intros Hq. induction t as [x|l IHl r IHr]; intros H S; simpl; [reflexivity|].
  simpl in S. rewrite map_app, list_sum_app in S.
  assert (Nonneg : forall t', 0 <= list_sum (map Rabs (leaves t'))).
  { intros t'. induction (leaves t') as [|x xs IH]; simpl; [lra | generalize (Rabs_pos x); lra]. }
  assert (Below : forall t', Rabs (total t') <= list_sum (map Rabs (leaves t'))).
  { intros t'. rewrite total_is_list_sum. induction (leaves t') as [|x xs IH]; simpl;
      [rewrite Rabs_R0; lra | generalize (Rabs_triang x (list_sum xs)); lra]. }
  assert (Hl : forall x, In x (leaves l) -> multiple q x) by (intros; apply H, in_or_app; auto).
  assert (Hr : forall x, In x (leaves r) -> multiple q x) by (intros; apply H, in_or_app; auto).
  generalize (Nonneg l) (Nonneg r) (Below l) (Below r); intros.
  rewrite IHl, IHr by (auto; lra). apply nearest_of_float. apply grid_is_exact with q; auto.
  - assert (G : forall t', (forall x, In x (leaves t') -> multiple q x) -> multiple q (total t')).
    { induction t' as [x|a IHa b IHb]; intros Q; simpl; [apply Q; now left|].
      apply multiple_plus; [apply IHa | apply IHb]; intros; apply Q, in_or_app; auto. }
    apply multiple_plus; auto.
  - generalize (Rabs_triang (total l) (total r)). lra.
Qed.

End Floats.
