(** R9 of rounding.md: a product of k operations, each with relative error at most u, in any association and with any
    factors below the fraction bar, errs by at most ku/(1 - ku) relatively. Underflow and overflow of partial products
    are excluded here. *)
Require Import Reals Lia Lra Psatz.
Local Open Scope R_scope.

Inductive product : Type :=
  | Factor (x : R)
  | Times (l r : product)
  | Over (l r : product).

Fixpoint exact (e : product) : R :=
  match e with
  | Factor x => x
  | Times l r => exact l * exact r
  | Over l r => exact l / exact r
  end.

Fixpoint operations (e : product) : nat :=
  match e with
  | Factor _ => 0%nat
  | Times l r | Over l r => S (operations l + operations r)
  end.

(** The product may evaluate to y. *)
Inductive multiplies (u : R) : product -> R -> Prop :=
  | multiplies_factor x : multiplies u (Factor x) x
  | multiplies_times l r a b d :
      multiplies u l a -> multiplies u r b -> Rabs d <= u -> multiplies u (Times l r) (a * b * (1 + d))
  | multiplies_over l r a b d :
      multiplies u l a -> multiplies u r b -> Rabs d <= u -> multiplies u (Over l r) (a / b * (1 + d)).

(** What n operations can do to a number as a factor. *)
Definition drift (u : R) (n : nat) (theta : R) : Prop := (1 - u) ^ n <= theta /\ theta * (1 - u) ^ n <= 1.

Lemma quotient_times a b : b <> 0 -> a / b * b = a.
Proof. intros; field; assumption. Qed.

Section Drift.

Variable u : R.
Hypothesis small : 0 <= u < 1.

Lemma power_positive n : 0 < (1 - u) ^ n.
Proof. apply pow_lt; lra. Qed.

Lemma drift_positive n theta : drift u n theta -> 0 < theta.
Proof. intros [H _]. generalize (power_positive n). lra. Qed.

Lemma drift_one d : Rabs d <= u -> drift u 1 (1 + d).
Proof. intros H. generalize (Rle_abs d) (Rle_abs (- d)). rewrite Rabs_Ropp. intros. split; simpl; nra. Qed.

Lemma drift_product m n a b : drift u m a -> drift u n b -> drift u (m + n) (a * b).
Proof.
  intros Ha Hb. generalize (drift_positive _ _ Ha) (drift_positive _ _ Hb) (power_positive m) (power_positive n).
  destruct Ha as [A1 A2]. destruct Hb as [B1 B2]. unfold drift. rewrite pow_add. intros. split.
  - apply Rmult_le_compat; lra.
  - replace (a * b * ((1 - u) ^ m * (1 - u) ^ n)) with ((a * (1 - u) ^ m) * (b * (1 - u) ^ n)) by ring.
    apply Rle_trans with (1 * 1); [|lra]. apply Rmult_le_compat; try lra; apply Rmult_le_pos; lra.
Qed.

Lemma drift_inverse n a : drift u n a -> drift u n (/ a).
Proof.
  intros Ha. generalize (drift_positive _ _ Ha) (power_positive n). destruct Ha as [A1 A2]. intros Pa Pn.
  split; apply Rmult_le_reg_l with a; try lra; [| rewrite <- Rmult_assoc]; rewrite Rinv_r by lra; lra.
Qed.

Lemma evaluates_drifts e y : multiplies u e y -> exists theta, drift u (operations e) theta /\ y = exact e * theta.
Proof.
  induction 1 as [x|l r a b d _ [s [Hs Es]] _ [t [Ht Et]] Hd|l r a b d _ [s [Hs Es]] _ [t [Ht Et]] Hd];
    simpl operations; simpl exact.
  - exists 1. split; [split; simpl; lra | ring].
  - exists (s * t * (1 + d)). split; [|subst; ring].
    replace (S (operations l + operations r)) with (operations l + operations r + 1)%nat by lia.
    apply drift_product; [now apply drift_product | now apply drift_one].
  - exists (s * / t * (1 + d)). split.
    + replace (S (operations l + operations r)) with (operations l + operations r + 1)%nat by lia.
      apply drift_product; [apply drift_product; [assumption | now apply drift_inverse] | now apply drift_one].
    + subst. unfold Rdiv. rewrite Rinv_mult. ring.
Qed.

Lemma drift_error n theta : drift u n theta -> INR n * u < 1 -> Rabs (theta - 1) <= INR n * u / (1 - INR n * u).
Proof.
  intros [H1 H2] Hn. generalize (pos_INR n); intros N.
  assert (B : 1 - INR n * u <= (1 - u) ^ n).
  { clear - small. induction n as [|n IH]; [simpl; lra|]. rewrite S_INR, <- tech_pow_Rmult.
    generalize (pos_INR n); intros N.
    apply Rle_trans with ((1 - u) * (1 - INR n * u)); [nra | apply Rmult_le_compat_l; lra]. }
  assert (P : 0 <= INR n * u) by (apply Rmult_le_pos; lra).
  apply Rabs_le. split.
  - assert (INR n * u <= INR n * u / (1 - INR n * u)).
    { apply Rmult_le_reg_r with (1 - INR n * u); [lra|].
      rewrite quotient_times by lra. nra. }
    lra.
  - apply Rmult_le_reg_r with (1 - INR n * u); [lra|].
    rewrite quotient_times by lra.
    assert (T : 0 < theta) by (apply (drift_positive n); now split). nra.
Qed.

End Drift.

Theorem product_bound u e y : 0 <= u -> multiplies u e y -> INR (operations e) * u < 1 -> u < 1 ->
  Rabs (y - exact e) <= Rabs (exact e) * (INR (operations e) * u / (1 - INR (operations e) * u)).
Proof.
  intros Hu Hy Hk H1. destruct (evaluates_drifts u (conj Hu H1) e y Hy) as [theta [D E]].
  replace (y - exact e) with (exact e * (theta - 1)) by (subst; ring). rewrite Rabs_mult.
  apply Rmult_le_compat_l; [apply Rabs_pos | now apply drift_error].
Qed.
