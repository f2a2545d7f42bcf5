(** What a conforming evaluation of a sum is, and Lemma S of rounding.md for all of them. An evaluation takes any binary
    tree and at each addition any number within u ufp(a) of the sum a of the two computed operands: round to nearest,
    another rounding of the same error, more precision inside or no rounding at all. On multiples of 2^q it stays on
    multiples of 2^q and is exact where these are numbers of the format. Overflow is excluded: all values are real. *)
Require Import Reals ZArith Lia Lra List.
From Flocq Require Import Core.
Require Import Etalon.sums Etalon.tree Etalon.chain.
Local Open Scope R_scope.

Notation pow2 := (bpow radix2).

(** The power of two at or below |x|; 0 for 0. *)
Definition ufp (x : R) : R := if Req_bool x 0 then 0 else pow2 (mag radix2 x - 1).

Definition multiple (q : Z) (x : R) : Prop := exists m : Z, x = IZR m * pow2 q.

(** u = 2^-p *)
Definition unit_roundoff (p : Z) : R := pow2 (- p).

(** One addition with exact sum a may give c. *)
Definition adds_to (p q : Z) (a c : R) : Prop :=
  Rabs (c - a) <= unit_roundoff p * ufp a /\
  (multiple q a -> multiple q c) /\
  (multiple q a -> Rabs a <= pow2 (p + q) -> c = a).

(** The tree may evaluate to y. *)
Inductive evaluates (p q : Z) : tree -> R -> Prop :=
  | evaluates_leaf t : evaluates p q (Leaf t) t
  | evaluates_node l r a b c :
      evaluates p q l a -> evaluates p q r b -> adds_to p q (a + b) c -> evaluates p q (Node l r) c.

(** g of rounding.md: what a node costs in units of u, given a bound x of its exact sum and T0 of all errors. *)
Definition node_cost (p q : Z) (t0 x : R) : R := if Rlt_bool (pow2 (p + q)) (x + t0) then ufp (x + t0) else 0.

(** The three forms of the minimum; f bounds partial sums, s the whole sum. *)
Definition w (f : nat -> R) (n : nat) (s : R) : R :=
  let h := Nat.div2 n in
  Rmin (from_two f n) (from_two f h + from_two f (n - h) + INR (n - h) * s).
Definition t0 (p : Z) (f : nat -> R) (n : nat) (s : R) : R :=
  unit_roundoff p * w f n s / (1 - INR (n - 1) * unit_roundoff p).
Definition all_nodes (p q : Z) (f : nat -> R) (n : nat) (s : R) : R :=
  unit_roundoff p * from_two (fun k => node_cost p q (t0 p f n s) (f k)) n.
Definition chain_nodes (p q : Z) (f : nat -> R) (n : nat) (s : R) : R :=
  let h := Nat.div2 n in
  let g := node_cost p q (t0 p f n s) in
  unit_roundoff p * (from_two (fun k => g (f k)) h + from_two (fun k => g (f k)) (n - h) + g s
    + sum_from 1 (n - h - 1) (fun j => Rmax 0 (g (s + f j) - g (f (j + 1)%nat)))).

Lemma unit_positive p : 0 < unit_roundoff p.
Proof. apply bpow_gt_0. Qed.

Lemma ufp_nonnegative x : 0 <= ufp x.
Proof. unfold ufp. case Req_bool_spec; intros _; [lra | apply bpow_ge_0]. Qed.

Lemma ufp_below x : ufp x <= Rabs x.
Proof. unfold ufp. case Req_bool_spec; intros H; [apply Rabs_pos | now apply bpow_mag_le]. Qed.

Lemma ufp_le x y : Rabs x <= Rabs y -> ufp x <= ufp y.
Proof.
  intros H. unfold ufp. case Req_bool_spec; intros Hx; case Req_bool_spec; intros Hy;
    try apply bpow_ge_0; try lra.
  - exfalso. rewrite Hy, Rabs_R0 in H. apply Hx. generalize (Rabs_pos x) (Rabs_no_R0 x Hx); lra.
  - apply bpow_le. generalize (mag_le_abs radix2 x y Hx H). lia.
Qed.

Lemma node_cost_nonnegative p q t x : 0 <= node_cost p q t x.
Proof. unfold node_cost. case Rlt_bool; [apply ufp_nonnegative | lra]. Qed.

Lemma node_cost_nondecreasing p q t : 0 <= t -> nondecreasing (node_cost p q t).
Proof.
  intros Ht x y Hx Hxy. unfold node_cost.
  case Rlt_bool_spec; intros H1; case Rlt_bool_spec; intros H2; try lra.
  - apply ufp_le. rewrite !Rabs_pos_eq; lra.
  - apply ufp_nonnegative.
Qed.

Lemma multiple_plus q a b : multiple q a -> multiple q b -> multiple q (a + b).
Proof. intros [m Hm] [k Hk]. exists (m + k)%Z. rewrite plus_IZR, Hm, Hk. ring. Qed.

Section Errors.

Variables p q : Z.
Let u := unit_roundoff p.

(** The same with the sum e of all local errors. *)
Inductive evaluates_with : tree -> R -> R -> Prop :=
  | with_leaf t : evaluates_with (Leaf t) t 0
  | with_node l r a b c d e :
      evaluates_with l a d -> evaluates_with r b e -> adds_to p q (a + b) c ->
      evaluates_with (Node l r) c (d + e + Rabs (c - (a + b))).

Lemma errors_exist t y : evaluates p q t y -> exists e, evaluates_with t y e.
Proof.
  induction 1 as [t|l r a b c _ [d Hd] _ [e He] Hc]; eexists; [constructor | econstructor; eauto].
Qed.

Lemma errors_nonnegative t y e : evaluates_with t y e -> 0 <= e.
Proof. induction 1 as [t|l r a b c d e _ Hd _ He _]; [lra | generalize (Rabs_pos (c - (a + b))); lra]. Qed.

Lemma error_below t y e : evaluates_with t y e -> Rabs (y - total t) <= e.
Proof.
  induction 1 as [t|l r a b c d e _ Hd _ He _]; simpl.
  - rewrite Rminus_eq_0, Rabs_R0; lra.
  - replace (c - (total l + total r)) with ((a - total l) + ((b - total r) + (c - (a + b)))) by ring.
    generalize (Rabs_triang (a - total l) ((b - total r) + (c - (a + b))))
      (Rabs_triang (b - total r) (c - (a + b))). lra.
Qed.

Lemma stays_on_grid t y e :
  evaluates_with t y e -> (forall x, In x (leaves t) -> multiple q x) -> multiple q y.
Proof.
  induction 1 as [t|l r a b c d e _ Hd _ He [_ [Hc _]]]; intros Hq.
  - apply Hq; now left.
  - apply Hc, multiple_plus; [apply Hd | apply He]; intros x Hx; apply Hq, in_or_app; auto.
Qed.

(** At every node the computed operands' sum is within any bound of all errors of the exact one. *)
Lemma operands_close l r a b d e : evaluates_with l a d -> evaluates_with r b e ->
  Rabs (a + b) <= Rabs (total (Node l r)) + (d + e).
Proof.
  intros Hl Hr. apply error_below in Hl. apply error_below in Hr. simpl.
  replace (a + b) with ((total l + total r) + ((a - total l) + (b - total r))) by ring.
  generalize (Rabs_triang (total l + total r) ((a - total l) + (b - total r)))
    (Rabs_triang (a - total l) (b - total r)). lra.
Qed.

Lemma errors_relative t y e bound : evaluates_with t y e -> e <= bound ->
  e <= u * over_nodes (fun x => x + bound) t.
Proof.
  intros H; revert bound.
  induction H as [t|l r a b c d e Hl IHl Hr IHr [Hc _]]; intros bound Hb;
    [simpl; rewrite Rmult_0_r; lra|].
  generalize (errors_nonnegative _ _ _ Hl) (errors_nonnegative _ _ _ Hr) (Rabs_pos (c - (a + b))); intros.
  specialize (IHl bound ltac:(lra)). specialize (IHr bound ltac:(lra)).
  generalize (operands_close _ _ _ _ _ _ Hl Hr) (ufp_below (a + b)) (unit_positive p); intros O F U.
  assert (N : Rabs (c - (a + b)) <= u * (Rabs (total (Node l r)) + bound)).
  { apply Rle_trans with (1 := Hc). apply Rmult_le_compat_l; [now apply Rlt_le | lra]. }
  change (over_nodes (fun x => x + bound) (Node l r)) with
    ((Rabs (total (Node l r)) + bound) + over_nodes (fun x => x + bound) l + over_nodes (fun x => x + bound) r).
  rewrite !Rmult_plus_distr_l. rewrite Rmult_plus_distr_l in N. lra.
Qed.

Lemma errors_on_grid t y e bound : evaluates_with t y e -> (forall x, In x (leaves t) -> multiple q x) ->
  e <= bound -> e <= u * over_nodes (node_cost p q bound) t.
Proof.
  intros H; revert bound.
  induction H as [t|l r a b c d e Hl IHl Hr IHr [Hc [_ Hx]]]; intros bound Hq Hb;
    [simpl; rewrite Rmult_0_r; lra|].
  assert (Ql : forall x, In x (leaves l) -> multiple q x) by (intros; apply Hq, in_or_app; auto).
  assert (Qr : forall x, In x (leaves r) -> multiple q x) by (intros; apply Hq, in_or_app; auto).
  generalize (errors_nonnegative _ _ _ Hl) (errors_nonnegative _ _ _ Hr) (Rabs_pos (c - (a + b))); intros.
  specialize (IHl bound Ql ltac:(lra)). specialize (IHr bound Qr ltac:(lra)).
  generalize (operands_close _ _ _ _ _ _ Hl Hr) (unit_positive p); intros O U.
  assert (N : Rabs (c - (a + b)) <= u * node_cost p q bound (Rabs (total (Node l r)))).
  { destruct (Rle_lt_dec (Rabs (a + b)) (pow2 (p + q))) as [Small|Big].
    - rewrite Hx, Rminus_eq_0, Rabs_R0; auto.
      + apply Rmult_le_pos; [now apply Rlt_le | apply node_cost_nonnegative].
      + apply multiple_plus; [eapply stays_on_grid with (1 := Hl) | eapply stays_on_grid with (1 := Hr)]; auto.
    - apply Rle_trans with (1 := Hc). apply Rmult_le_compat_l; [now apply Rlt_le|].
      unfold node_cost. rewrite Rlt_bool_true by lra. apply ufp_le.
      rewrite (Rabs_pos_eq (Rabs (total (Node l r)) + bound));
        generalize (Rabs_pos (total (Node l r))); lra. }
  change (over_nodes (node_cost p q bound) (Node l r)) with
    (node_cost p q bound (Rabs (total (Node l r))) + over_nodes (node_cost p q bound) l
      + over_nodes (node_cost p q bound) r).
  rewrite !Rmult_plus_distr_l. lra.
Qed.

End Errors.

Lemma over_nodes_shift t bound :
  over_nodes (fun x => x + bound) t = over_nodes (fun x => x) t + INR (size t - 1) * bound.
Proof.
  induction t as [x|l IHl r IHr]; simpl over_nodes; simpl size; [simpl; ring|].
  rewrite IHl, IHr. generalize (size_positive l) (size_positive r); intros.
  replace (size l + size r - 1)%nat with (S ((size l - 1) + (size r - 1))) by lia.
  rewrite S_INR, plus_INR. ring.
Qed.

(** The sum of |s_v| over the inner nodes is at most W. *)
Lemma nodes_below_w f t s :
  bounds_partial_sums f (leaves t) -> nondecreasing_to (size t) f -> (forall k, 0 <= f k) ->
  (2 <= size t)%nat -> Rabs (total t) <= s -> over_nodes (fun x => x) t <= w f (size t) s.
Proof.
  intros Hf Hm H0 Hn Hs. assert (Id : nondecreasing (fun x => x)) by (intros x y _ H; exact H).
  assert (S0 : 0 <= s) by (apply Rle_trans with (2 := Hs); apply Rabs_pos).
  unfold w. apply Rmin_glb.
  - now apply (nodes_cost f (fun x => x)).
  - apply Rle_trans with (1 := chain_bounds_nodes f (fun x => x) t s Hf Hm H0 Id Hn Hs).
    unfold chain_cost; cbv beta. set (n := size t) in *. set (h := Nat.div2 n).
    assert (D : sum_from 1 (n - h - 1) (fun j => Rmax 0 (s + f j - f (j + 1)%nat)) <= INR (n - h - 1) * s).
    { rewrite <- (sum_from_constant s 1). apply sum_from_le; intros i Hi. apply Rmax_lub; [exact S0|].
      enough (f (1 + i)%nat <= f (1 + i + 1)%nat) by lra. apply Hm; lia. }
    assert (Hh : (h < n)%nat) by (apply Nat.lt_div2; lia).
    assert (E : INR (n - h) = INR (n - h - 1) + 1) by (rewrite <- S_INR; f_equal; lia).
    change (from_two (fun i => f i) h) with (from_two f h) in *.
    change (from_two (fun i => f i) (n - h)) with (from_two f (n - h)) in *.
    rewrite E. lra.
Qed.

(** Lemma S: every conforming evaluation of the sum of n >= 2 multiples of 2^q, in any order, lies within the least of
    three numbers of the exact sum; `summation_bound` computes them. *)
Theorem lemma_s (p q : Z) (f : nat -> R) (t : tree) (s y : R) :
  evaluates p q t y ->
  (forall x, In x (leaves t) -> multiple q x) ->
  bounds_partial_sums f (leaves t) -> nondecreasing_to (size t) f -> (forall k, 0 <= f k) ->
  Rabs (total t) <= s ->
  (2 <= size t)%nat -> INR (size t - 1) * unit_roundoff p < 1 ->
  Rabs (y - total t) <=
    Rmin (t0 p f (size t) s) (Rmin (all_nodes p q f (size t) s) (chain_nodes p q f (size t) s)).
Proof.
  intros Hy Hq Hf Hm H0 Hs Hn Hu. destruct (errors_exist p q t y Hy) as [e He].
  apply Rle_trans with e; [now apply error_below with (1 := He)|].
  generalize (errors_nonnegative p q t y e He) (unit_positive p); intros E0 U0.
  generalize (nodes_below_w f t s Hf Hm H0 Hn Hs); intros HW.
  assert (T : e <= t0 p f (size t) s).
  { generalize (errors_relative p q t y e e He (Rle_refl e)). rewrite over_nodes_shift. intros R.
    unfold t0. apply Rmult_le_reg_r with (1 - INR (size t - 1) * unit_roundoff p); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (M : unit_roundoff p * over_nodes (fun x => x) t <= unit_roundoff p * w f (size t) s)
      by (apply Rmult_le_compat_l; lra).
    lra. }
  generalize (errors_on_grid p q t y e _ He Hq T); intros G.
  assert (N : nondecreasing (node_cost p q (t0 p f (size t) s))) by (apply node_cost_nondecreasing; lra).
  apply Rmin_glb; [exact T|]. apply Rmin_glb; apply Rle_trans with (1 := G); apply Rmult_le_compat_l; try lra.
  - now apply nodes_cost.
  - apply chain_bounds_nodes; auto.
Qed.
