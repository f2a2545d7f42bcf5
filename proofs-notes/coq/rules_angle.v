(** The angle atan2(y, x) away from its cut, the half line x <= 0, y = 0: that it is the angle, and its rule. *)
Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
Require Import Etalon.scalar_functions Etalon.scalar_table Etalon.curves.
Local Open Scope R_scope.

Section Point.

Variables x y : R.
Hypothesis off_cut : domain_atan2 y x.

Let radius := sqrt (x * x + y * y).

Lemma squares_positive : 0 < x * x + y * y.
Proof. destruct off_cut; nra. Qed.

Lemma radius_positive : 0 < radius.
Proof. apply sqrt_lt_R0, squares_positive. Qed.

Lemma radius_squared : radius * radius = x * x + y * y.
Proof. apply sqrt_sqrt. generalize squares_positive. lra. Qed.

Lemma shifted_positive : 0 < x + radius.
Proof.
  generalize radius_positive radius_squared. intros R S.
  destruct off_cut as [P|N]; [lra|]. assert (0 < y * y) by nra. nra.
Qed.

(** atan2 is the angle in (-pi, pi) whose cosine and sine are x and y over the distance from the origin. *)
Theorem atan2_is_the_angle :
  cos (real_atan2 y x) = x / sqrt (x * x + y * y) /\ sin (real_atan2 y x) = y / sqrt (x * x + y * y) /\
  - PI < real_atan2 y x < PI.
Proof.
  unfold real_atan2. fold radius. set (q := y / (x + radius)).
  generalize radius_positive radius_squared shifted_positive. intros R S P.
  assert (Q : 1 + q * q = 2 * radius / (x + radius)).
  { unfold q. apply Rmult_eq_reg_r with ((x + radius) * (x + radius)); [|nra].
    transitivity ((x + radius) * (x + radius) + y * y); [field; lra|].
    transitivity (2 * radius * (x + radius)); [|field; lra]. nra. }
  assert (C : cos (atan q) * cos (atan q) = / (1 + q * q)).
  { rewrite cos_atan. unfold Rsqr.
    transitivity (/ (sqrt (1 + q * q) * sqrt (1 + q * q))); [field|].
    - apply Rgt_not_eq, sqrt_lt_R0. nra.
    - rewrite sqrt_sqrt; [reflexivity | nra]. }
  assert (T : sin (atan q) = q * cos (atan q)).
  { generalize (tan_atan q) (atan_bound q). unfold tan. intros E B.
    assert (0 < cos (atan q)) by (apply cos_gt_0; lra). rewrite <- E at 2. field. lra. }
  split; [|split].
  - rewrite cos_2a, T.
    replace (cos (atan q) * cos (atan q) - q * cos (atan q) * (q * cos (atan q)))
      with ((1 - q * q) * (cos (atan q) * cos (atan q))) by ring.
    rewrite C. replace (1 - q * q) with (2 - (1 + q * q)) by ring. rewrite Q. field. lra.
  - rewrite sin_2a, T.
    replace (2 * (q * cos (atan q)) * cos (atan q)) with (2 * q * (cos (atan q) * cos (atan q))) by ring.
    rewrite C, Q. unfold q. field. lra.
  - generalize (atan_bound q). lra.
Qed.

End Point.

Theorem rule_atan2 : binary_rule real_atan2 contribution_atan2_0 contribution_atan2_1 domain_atan2.
Proof.
  intros y x s dy dx Hy Hx D. unfold real_atan2, contribution_atan2_0, contribution_atan2_1.
  generalize (squares_positive (x s) (y s) D) (radius_positive (x s) (y s) D) (radius_squared (x s) (y s) D)
    (shifted_positive (x s) (y s) D).
  intros Q R S P. along y x s Hy Hx; try lra.
  set (r := sqrt (x s * x s + y s * y s)) in *.
  set (a := x s) in *. set (b := y s) in *.
  assert (N : 1 + b / (a + r) * (b / (a + r)) = 2 * r / (a + r)).
  { apply Rmult_eq_reg_r with ((a + r) * (a + r)); [|nra].
    transitivity ((a + r) * (a + r) + b * b); [field; lra|].
    transitivity (2 * r * (a + r)); [|field; lra]. nra. }
  replace (1 + b * / (a + r) * (b * / (a + r) * 1)) with (2 * r / (a + r)) by (rewrite <- N; unfold Rdiv; ring).
  replace (b * b + a * a) with (r * r) by lra.
  apply Rmult_eq_reg_r with (r * r * (a + r)); [|apply Rgt_not_eq; repeat apply Rmult_lt_0_compat; lra].
  transitivity (dy * (a * r + r * r) - b * dx * r - b * a * dx - b * b * dy); [field; lra|].
  transitivity ((dy * a - dx * b) * (a + r)); [|field; lra].
  transitivity ((dy * a - dx * b) * (a + r) + dy * (r * r - (a * a + b * b))); [ring | rewrite S; ring].
Qed.
