(** The rule of the power: for a positive base in both arguments, for a whole exponent at any base, and the exponents
    that the table treats by their form (0, 1, 2, literals). *)
Require Import Reals ZArith Lia Lra.
From Flocq Require Import Core.
From Coquelicot Require Import Coquelicot.
Require Import Etalon.scalar_functions Etalon.scalar_table Etalon.curves Etalon.rules_pieces.
Local Open Scope R_scope.

Lemma pow_of_positive a b : 0 < a -> real_pow a b = exp (b * ln a).
Proof. intros H. unfold real_pow. destruct Rlt_dec; [reflexivity | contradiction]. Qed.

(** A whole exponent multiplies, whatever the base. *)
Lemma pow_of_whole a n : real_pow a (IZR n) = powerRZ a n.
Proof.
  unfold real_pow. destruct Rlt_dec as [P|P].
  - symmetry. now apply powerRZ_Rpower.
  - rewrite Zfloor_IZR. destruct Req_EM_T; [reflexivity | contradiction].
Qed.

Theorem rule_pow : binary_rule real_pow contribution_pow_0 contribution_pow_1 domain_pow.
Proof.
  intros x y s dx dy Hx Hy D. unfold domain_pow in D.
  apply derive_as with (fun r => exp (y r * ln (x r))).
  - generalize (near_above x s 0 (exists_derive _ _ _ Hx) D). apply filter_imp.
    intros r H. now apply pow_of_positive.
  - unfold contribution_pow_0, contribution_pow_1, real_ne.
    rewrite (real_eq_false (x s) 0) by lra. simpl. rewrite !pow_of_positive by exact D. unfold real_log.
    along x y s Hx Hy; [exact D|].
    assert (E : exp ((y s - 1) * ln (x s)) = exp (y s * ln (x s)) * / x s).
    { replace ((y s - 1) * ln (x s)) with (y s * ln (x s) + - ln (x s)) by ring.
      rewrite exp_plus, exp_Ropp, exp_ln by exact D. reflexivity. }
    rewrite E. unfold real_eq. destruct Req_EM_T as [Z|Z]; simpl; [rewrite Z|]; field; lra.
Qed.

Definition differentiable_power (n : Z) (a : R) : Prop := (0 <= n)%Z \/ a <> 0.

Lemma derivative_of_power n a : differentiable_power n a ->
  is_derive (fun x => powerRZ x n) a (IZR n * powerRZ a (n - 1)).
Proof.
  intros D. destruct (Z_lt_le_dec n 0) as [N|P].
  - assert (A : a <> 0) by (destruct D; [lia | assumption]).
    destruct (Z_of_nat_complete (- n) ltac:(lia)) as [k K].
    assert (Kn : n = (- Z.of_nat k)%Z) by lia. subst n.
    apply (is_derive_ext (fun x => / x ^ k)).
    { intros x. now rewrite powerRZ_neg', <- pow_powerRZ. }
    assert (X : a ^ k <> 0) by now apply pow_nonzero.
    assert (E : powerRZ a (- Z.of_nat k - 1) = / (a ^ k * a)).
    { replace (- Z.of_nat k - 1)%Z with (- (Z.of_nat (S k)))%Z by lia.
      rewrite powerRZ_neg', <- pow_powerRZ. f_equal. simpl. ring. }
    rewrite E, opp_IZR, <- INR_IZR_INZ. auto_derive; [exact X|].
    destruct k as [|k]; [simpl; field; exact A|]. rewrite <- !tech_pow_Rmult.
    cbn [Init.Nat.pred].  field. auto using pow_nonzero.
  - destruct (Z_of_nat_complete n P) as [k K]. subst n.
    apply (is_derive_ext (fun x => x ^ k)).
    { intros x. now rewrite <- pow_powerRZ. }
    destruct k as [|k].
    + simpl. rewrite Rmult_0_l. apply (is_derive_const (K := R_AbsRing) (V := R_NormedModule) 1 a).
    + replace (Z.of_nat (S k) - 1)%Z with (Z.of_nat k) by lia.
      rewrite <- pow_powerRZ, <- INR_IZR_INZ. auto_derive; [exact I|]. cbn [Init.Nat.pred].
      change (match k with O => 1 | S _ => INR k + 1 end) with (INR (S k)). ring.
Qed.

(** Any whole exponent, as a variable: the derivative in the base, negative bases and 0 included. *)
Theorem rule_pow_base n a : differentiable_power n a ->
  is_derive (fun x => real_pow x (IZR n)) a (contribution_pow_0 a (IZR n) 1).
Proof.
  intros D. apply (is_derive_ext (fun x => powerRZ x n)); [intros x; symmetry; apply pow_of_whole|].
  generalize (derivative_of_power n a D). unfold contribution_pow_0, real_ne, real_eq.
  destruct Req_EM_T as [Z|Z]; simpl.
  - rewrite Z, Rmult_0_l. auto.
  - rewrite <- minus_IZR, pow_of_whole, Rmult_1_l. auto.
Qed.

(** The derivative in the exponent at base 0: nothing, for a positive exponent. *)
Theorem rule_pow_exponent_at_zero b : 0 < b -> is_derive (fun y => real_pow 0 y) b (contribution_pow_1 0 b 1).
Proof.
  intros P. unfold contribution_pow_1, real_ne, real_eq.
  destruct (Req_EM_T 0 0) as [_|N]; [|now elim N]. rewrite real_lt_false by lra. simpl.
  apply constant_near with 0. generalize (near_above (fun r => r) b 0 (id_exists b) P). apply filter_imp.
  intros r H. unfold real_pow. destruct Rlt_dec; [lra|].
  destruct Req_EM_T as [E|E]; [|reflexivity]. assert (Z : (0 < Zfloor r)%Z) by (apply lt_IZR; lra).
  destruct (Zfloor r) as [|p|p]; try lia. simpl. apply pow_i. lia.
Qed.

(** Literal exponents: the base's rule as a function of one argument. *)
Definition literal_rule (e : R) (c : R -> R -> R) (domain : R -> Prop) : Prop :=
  unary_rule (fun a => real_pow a e) c domain.

Lemma whole_literal n e c (domain : R -> Prop) :
  e = IZR n -> linear_1 c -> (forall a, domain a -> differentiable_power n a) ->
  (forall a, domain a -> c a 1 = IZR n * powerRZ a (n - 1)) -> literal_rule e c domain.
Proof.
  intros E L D C. apply unary_from; [exact L|]. intros a Da. rewrite C by exact Da.
  apply (is_derive_ext (fun x => powerRZ x n)); [intros x; rewrite E; symmetry; apply pow_of_whole|].
  apply derivative_of_power. now apply D.
Qed.

Definition domain_pow_at_zero (a : R) : Prop := True.
Definition domain_pow_at_one (a : R) : Prop := True.
Definition domain_pow_at_two (a : R) : Prop := True.
Definition domain_pow_at_three (a : R) : Prop := True.
Definition domain_pow_at_minus_one (a : R) : Prop := a <> 0.
Definition domain_pow_at_minus_two (a : R) : Prop := a <> 0.
Definition domain_pow_at_half (a : R) : Prop := 0 < a.
Definition domain_pow_at_binary_one (a : R) : Prop := True.
Definition domain_pow_at_binary_two (a : R) : Prop := True.
Definition domain_pow_at_binary_four (a : R) : Prop := True.
Definition domain_pow_at_binary_minus_three (a : R) : Prop := a <> 0.
Definition domain_pow_at_binary_half (a : R) : Prop := 0 < a.

Ltac whole n :=
  apply (whole_literal n);
  [ unfold exponent_zero, exponent_one, exponent_two, exponent_three, exponent_minus_one, exponent_minus_two,
      exponent_binary_one, exponent_binary_two, exponent_binary_four, exponent_binary_minus_three; simpl; try field; lra
  | linear
  | intros a D; first [left; lia | right; exact D]
  | intros a D ].

Theorem rule_pow_at_zero : literal_rule exponent_zero contribution_pow_0_at_zero domain_pow_at_zero.
Proof.
  whole 0%Z. unfold contribution_pow_0_at_zero, real_ne, real_eq.
  destruct Req_EM_T as [_|N]; [simpl; ring | now elim N].
Qed.

Theorem rule_pow_at_one : literal_rule exponent_one contribution_pow_0_at_one domain_pow_at_one.
Proof. whole 1%Z. unfold contribution_pow_0_at_one. simpl. ring. Qed.

Theorem rule_pow_at_two : literal_rule exponent_two contribution_pow_0_at_two domain_pow_at_two.
Proof. whole 2%Z. unfold contribution_pow_0_at_two. simpl. ring. Qed.

Theorem rule_pow_at_three : literal_rule exponent_three contribution_pow_0_at_three domain_pow_at_three.
Proof. whole 3%Z. unfold contribution_pow_0_at_three. rewrite (pow_of_whole a 2). simpl. ring. Qed.

Theorem rule_pow_at_minus_one : literal_rule exponent_minus_one contribution_pow_0_at_minus_one domain_pow_at_minus_one.
Proof. whole (-1)%Z. unfold contribution_pow_0_at_minus_one. rewrite (pow_of_whole a (-2)). simpl. ring. Qed.

Theorem rule_pow_at_minus_two : literal_rule exponent_minus_two contribution_pow_0_at_minus_two domain_pow_at_minus_two.
Proof. whole (-2)%Z. unfold contribution_pow_0_at_minus_two. rewrite (pow_of_whole a (-3)). simpl. ring. Qed.

Theorem rule_pow_at_binary_one :
  literal_rule exponent_binary_one contribution_pow_0_at_binary_one domain_pow_at_binary_one.
Proof. whole 1%Z. unfold contribution_pow_0_at_binary_one. simpl. ring. Qed.

Theorem rule_pow_at_binary_two :
  literal_rule exponent_binary_two contribution_pow_0_at_binary_two domain_pow_at_binary_two.
Proof. whole 2%Z. unfold contribution_pow_0_at_binary_two. simpl. ring. Qed.

Theorem rule_pow_at_binary_four :
  literal_rule exponent_binary_four contribution_pow_0_at_binary_four domain_pow_at_binary_four.
Proof. whole 4%Z. unfold contribution_pow_0_at_binary_four. rewrite (pow_of_whole a 3). simpl. ring. Qed.

Theorem rule_pow_at_binary_minus_three :
  literal_rule exponent_binary_minus_three contribution_pow_0_at_binary_minus_three domain_pow_at_binary_minus_three.
Proof. whole (-3)%Z. unfold contribution_pow_0_at_binary_minus_three. rewrite (pow_of_whole a (-4)). simpl. ring. Qed.

Lemma half_literal e c : linear_1 c -> (forall a, 0 < a -> c a 1 = e * real_pow a (e - 1)) ->
  literal_rule e c (fun a => 0 < a).
Proof.
  intros L C. apply unary_from; [exact L|]. intros a D. rewrite C by exact D.
  apply derive_as with (fun r => exp (e * ln r)).
  - generalize (near_above (fun r => r) a 0 (id_exists a) D). apply filter_imp. intros r H. now apply pow_of_positive.
  - rewrite pow_of_positive by exact D. auto_derive; [exact D|].
    replace ((e - 1) * ln a) with (e * ln a + - ln a) by ring.
    rewrite exp_plus, exp_Ropp, exp_ln by exact D. field. lra.
Qed.

Theorem rule_pow_at_half : literal_rule exponent_half contribution_pow_0_at_half domain_pow_at_half.
Proof. apply half_literal; [linear|]. intros a _. unfold contribution_pow_0_at_half, exponent_half. ring. Qed.

Theorem rule_pow_at_binary_half :
  literal_rule exponent_binary_half contribution_pow_0_at_binary_half domain_pow_at_binary_half.
Proof.
  apply half_literal; [linear|]. intros a _. unfold contribution_pow_0_at_binary_half, exponent_binary_half. ring.
Qed.
