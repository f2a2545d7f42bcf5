(** The rules of the smooth primitives: sums, products, quotients, exponentials, logarithms, trigonometric and
    hyperbolic functions, the square root and the error function. *)
Require Import Reals ZArith Lra.
From Coquelicot Require Import Coquelicot.
Require Import Etalon.scalar_functions Etalon.scalar_table Etalon.curves.
Local Open Scope R_scope.

Theorem rule_add : binary_rule real_add contribution_add_0 contribution_add_1 domain_add.
Proof.
  intros x y s dx dy Hx Hy _. unfold real_add, contribution_add_0, contribution_add_1.
  along x y s Hx Hy. ring.
Qed.

Theorem rule_sub : binary_rule real_sub contribution_sub_0 contribution_sub_1 domain_sub.
Proof.
  intros x y s dx dy Hx Hy _. unfold real_sub, contribution_sub_0, contribution_sub_1.
  along x y s Hx Hy. ring.
Qed.

Theorem rule_mul : binary_rule real_mul contribution_mul_0 contribution_mul_1 domain_mul.
Proof.
  intros x y s dx dy Hx Hy _. unfold real_mul, contribution_mul_0, contribution_mul_1.
  along x y s Hx Hy. ring.
Qed.

Theorem rule_div : binary_rule real_div contribution_div_0 contribution_div_1 domain_div.
Proof.
  intros x y s dx dy Hx Hy D. unfold real_div, contribution_div_0, contribution_div_1.
  along x y s Hx Hy; [exact D | field; exact D].
Qed.

Theorem rule_neg : unary_rule real_neg contribution_neg_0 domain_neg.
Proof.
  apply unary_from; [linear|]. intros a _. unfold real_neg, contribution_neg_0. auto_derive; [exact I | ring].
Qed.

Theorem rule_exp : unary_rule real_exp contribution_exp_0 domain_exp.
Proof.
  apply unary_from; [linear|]. intros a _. unfold real_exp, contribution_exp_0.
  auto_derive; [exact I | unfold real_exp; ring].
Qed.

Theorem rule_exp2 : unary_rule real_exp2 contribution_exp2_0 domain_exp2.
Proof.
  apply unary_from; [linear|]. intros a _. unfold real_exp2, contribution_exp2_0.
  auto_derive; [exact I | unfold real_exp2, real_log; ring].
Qed.

Theorem rule_expm1 : unary_rule real_expm1 contribution_expm1_0 domain_expm1.
Proof.
  apply unary_from; [linear|]. intros a _. unfold real_expm1, contribution_expm1_0.
  auto_derive; [exact I | unfold real_exp; ring].
Qed.

Lemma log_of_2_positive : 0 < ln 2.
Proof. rewrite <- ln_1. apply ln_increasing; lra. Qed.

Theorem rule_log : unary_rule real_log contribution_log_0 domain_log.
Proof.
  apply unary_from; [linear|]. intros a D. unfold domain_log in D. unfold real_log, contribution_log_0.
  auto_derive; [exact D | field; lra].
Qed.

Theorem rule_log2 : unary_rule real_log2 contribution_log2_0 domain_log2.
Proof.
  apply unary_from; [linear|]. intros a D. unfold domain_log2 in D. unfold real_log2, contribution_log2_0, real_log.
  generalize log_of_2_positive; intros L. auto_derive; [exact D | field; lra].
Qed.

Theorem rule_log1p : unary_rule real_log1p contribution_log1p_0 domain_log1p.
Proof.
  apply unary_from; [linear|]. intros a D. unfold domain_log1p in D. unfold real_log1p, contribution_log1p_0.
  auto_derive; [lra | field; lra].
Qed.

Theorem rule_sqrt : unary_rule real_sqrt contribution_sqrt_0 domain_sqrt.
Proof.
  apply unary_from; [linear|]. intros a D. unfold domain_sqrt in D. unfold real_sqrt, contribution_sqrt_0, real_sqrt.
  generalize (sqrt_lt_R0 a D); intros. auto_derive; [exact D | field; lra].
Qed.

Theorem rule_sin : unary_rule real_sin contribution_sin_0 domain_sin.
Proof.
  apply unary_from; [linear|]. intros a _. unfold real_sin, contribution_sin_0.
  auto_derive; [exact I | unfold real_cos; ring].
Qed.

Theorem rule_cos : unary_rule real_cos contribution_cos_0 domain_cos.
Proof.
  apply unary_from; [linear|]. intros a _. unfold real_cos, contribution_cos_0.
  auto_derive; [exact I | unfold real_sin; ring].
Qed.

Theorem rule_tan : unary_rule real_tan contribution_tan_0 domain_tan.
Proof.
  apply unary_from; [linear|]. intros a D. unfold domain_tan in D. unfold real_tan, contribution_tan_0, real_tan.
  auto_derive; [exact D | field; exact D].
Qed.

Theorem rule_sinh : unary_rule real_sinh contribution_sinh_0 domain_sinh.
Proof.
  apply unary_from; [linear|]. intros a _. unfold real_sinh, contribution_sinh_0.
  auto_derive; [exact I | unfold real_cosh; field].
Qed.

Theorem rule_cosh : unary_rule real_cosh contribution_cosh_0 domain_cosh.
Proof.
  apply unary_from; [linear|]. intros a _. unfold real_cosh, contribution_cosh_0.
  auto_derive; [exact I | unfold real_sinh; field].
Qed.

Theorem rule_tanh : unary_rule real_tanh contribution_tanh_0 domain_tanh.
Proof.
  apply unary_from; [linear|]. intros a _. unfold contribution_tanh_0, real_tanh, real_sinh, real_cosh.
  generalize (exp_pos a) (exp_pos (- a)); intros P N. auto_derive; [lra | field; lra].
Qed.

Lemma continuous_density t : continuous (fun r => exp (- (r * r))) t.
Proof. apply (ex_derive_continuous (fun r => exp (- (r * r)))). auto_derive. exact I. Qed.

Lemma density_integral a b : is_RInt (fun t => exp (- (t * t))) a b (RInt (fun t => exp (- (t * t))) a b).
Proof.
  apply (RInt_correct (V := R_CompleteNormedModule)), (ex_RInt_continuous (V := R_CompleteNormedModule)).
  intros z _. apply continuous_density.
Qed.

Theorem rule_erf : unary_rule real_erf contribution_erf_0 domain_erf.
Proof.
  apply unary_from; [linear|]. intros a _. unfold real_erf, contribution_erf_0, real_sqrt, real_pi, real_exp.
  replace (1 * (2 / sqrt PI * exp (- (a * a)))) with (2 / sqrt PI * exp (- (a * a))) by ring.
  apply (is_derive_scal (fun r => RInt (fun t => exp (- (t * t))) 0 r)).
  apply (is_derive_RInt (fun t => exp (- (t * t))) _ 0 a); [|apply continuous_density].
  apply filter_forall. intros b. apply density_integral.
Qed.

(** The error function is odd. *)
Theorem erf_is_odd a : real_erf (- a) = - real_erf a.
Proof.
  unfold real_erf. rewrite Ropp_mult_distr_r. f_equal.
  replace 0 with (- 0) at 1 by ring.
  transitivity (RInt (fun t => scal (-1) (exp (- (t * t)))) 0 a).
  - symmetry. apply is_RInt_unique.
    apply (is_RInt_ext (fun t => scal (-1) (exp (- ((-1 * t + 0) * (-1 * t + 0)))))).
    { intros t _. replace ((-1 * t + 0) * (-1 * t + 0)) with (t * t) by (simpl; ring). reflexivity. }
    apply (is_RInt_comp_lin (fun t => exp (- (t * t))) (-1) 0 0 a).
    replace (-1 * 0 + 0) with (- 0) by ring. replace (-1 * a + 0) with (- a) by ring.
    apply density_integral.
  - apply is_RInt_unique.
    replace (- RInt (fun t => exp (- (t * t))) 0 a) with (scal (-1) (RInt (fun t => exp (- (t * t))) 0 a)).
    + apply (is_RInt_scal (V := R_NormedModule)).
      apply density_integral.
    + unfold scal; simpl; unfold mult; simpl; ring.
Qed.
