(** Sums along a tree of declared height H: the error is at most Hu/(1 - Hu) times the sum of the magnitudes. *)
Require Import Reals ZArith Lia Lra Psatz List.
Require Import Etalon.sums Etalon.tree Etalon.evaluation.
Local Open Scope R_scope.

Fixpoint height (t : tree) : nat :=
  match t with
  | Leaf _ => 0%nat
  | Node l r => S (Nat.max (height l) (height r))
  end.

Fixpoint magnitudes (t : tree) : R :=
  match t with
  | Leaf x => Rabs x
  | Node l r => magnitudes l + magnitudes r
  end.

Lemma magnitudes_nonnegative t : 0 <= magnitudes t.
Proof. induction t; simpl; [apply Rabs_pos | lra]. Qed.

Lemma power_grows u m n : 0 <= u -> (m <= n)%nat -> (1 + u) ^ m <= (1 + u) ^ n.
Proof. intros. apply Rle_pow; [lra | assumption]. Qed.

Lemma power_bound u n : 0 <= u -> INR n * u < 1 -> (1 + u) ^ n - 1 <= INR n * u / (1 - INR n * u).
Proof.
  intros Hu Hn.
  assert (P : (1 + u) ^ n * (1 - INR n * u) <= 1).
  { clear Hn. induction n as [|n IH]; [simpl; lra|]. rewrite S_INR, <- tech_pow_Rmult.
    assert (0 < (1 + u) ^ n) by (apply pow_lt; lra). generalize (pos_INR n); intros.
    assert (0 <= (1 + u) ^ n * ((INR n + 1) * (u * u))).
    { apply Rmult_le_pos; [lra | apply Rmult_le_pos; [lra | nra]]. }
    nra. }
  apply Rmult_le_reg_r with (1 - INR n * u); [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. lra.
Qed.

Lemma evaluation_errors p q t y : evaluates p q t y ->
  Rabs y <= (1 + unit_roundoff p) ^ height t * magnitudes t /\
  Rabs (y - total t) <= ((1 + unit_roundoff p) ^ height t - 1) * magnitudes t.
Proof.
  set (u := unit_roundoff p). assert (U : 0 <= u) by (apply Rlt_le, unit_positive).
  induction 1 as [t|l r a b c _ [Al El] _ [Ar Er] [Hc _]]; cbn [height magnitudes total].
  { rewrite Rminus_eq_0, Rabs_R0. simpl. lra. }
  set (h := Nat.max (height l) (height r)). fold u in Hc.
  generalize (magnitudes_nonnegative l) (magnitudes_nonnegative r); intros Ml Mr.
  assert (Gl : (1 + u) ^ height l <= (1 + u) ^ h) by (apply power_grows; [exact U | apply Nat.le_max_l]).
  assert (Gr : (1 + u) ^ height r <= (1 + u) ^ h) by (apply power_grows; [exact U | apply Nat.le_max_r]).
  assert (Hc' : Rabs (c - (a + b)) <= u * Rabs (a + b)).
  { apply Rle_trans with (1 := Hc). apply Rmult_le_compat_l; [exact U | apply ufp_below]. }
  assert (Ab : Rabs (a + b) <= (1 + u) ^ h * (magnitudes l + magnitudes r)).
  { apply Rle_trans with (1 := Rabs_triang a b). nra. }
  assert (Eb : Rabs (a + b - (total l + total r)) <= ((1 + u) ^ h - 1) * (magnitudes l + magnitudes r)).
  { replace (a + b - (total l + total r)) with ((a - total l) + (b - total r)) by ring.
    apply Rle_trans with (1 := Rabs_triang _ _). nra. }
  rewrite <- tech_pow_Rmult. split.
  - replace c with ((c - (a + b)) + (a + b)) by ring. apply Rle_trans with (1 := Rabs_triang _ _). nra.
  - replace (c - (total l + total r)) with ((c - (a + b)) + (a + b - (total l + total r))) by ring.
    apply Rle_trans with (1 := Rabs_triang _ _). nra.
Qed.

Theorem height_bound p q t y n : evaluates p q t y -> (height t <= n)%nat -> INR n * unit_roundoff p < 1 ->
  Rabs (y - total t) <= INR n * unit_roundoff p / (1 - INR n * unit_roundoff p) * magnitudes t.
Proof.
  intros Hy Hh Hn. assert (U : 0 <= unit_roundoff p) by (apply Rlt_le, unit_positive).
  apply Rle_trans with (1 := proj2 (evaluation_errors p q t y Hy)).
  apply Rmult_le_compat_r; [apply magnitudes_nonnegative|].
  apply Rle_trans with (2 := power_bound _ _ U Hn). generalize (power_grows _ _ _ U Hh). lra.
Qed.
