(** The rules of the primitives with kinks and jumps, away from these: maximum, minimum, abs, sign, the roundings and
    the remainder. At a tie maximum and minimum give one half to each side, by convention. *)
Require Import Reals ZArith Lia Lra.
From Flocq Require Import Core.
From Coquelicot Require Import Coquelicot.
Require Import Etalon.scalar_functions Etalon.scalar_table Etalon.curves.
Local Open Scope R_scope.

Lemma real_eq_false a b : a <> b -> real_eq a b = false.
Proof. intros H. unfold real_eq. destruct Req_EM_T; [contradiction | reflexivity]. Qed.

Lemma real_lt_true a b : a < b -> real_lt a b = true.
Proof. intros H. unfold real_lt. destruct Rlt_dec; [reflexivity | contradiction]. Qed.

Lemma real_lt_false a b : b <= a -> real_lt a b = false.
Proof. intros H. unfold real_lt. destruct Rlt_dec; [lra | reflexivity]. Qed.

Lemma below_near (x y : R -> R) s : ex_derive x s -> ex_derive y s -> x s < y s -> locally s (fun r => x r < y r).
Proof.
  intros Hx Hy H.
  assert (D : ex_derive (fun r => y r - x r) s) by (apply @ex_derive_minus; assumption).
  generalize (near_above (fun r => y r - x r) s 0 D ltac:(lra)). apply filter_imp. intros r L. lra.
Qed.

Theorem rule_maximum : binary_rule real_maximum contribution_maximum_0 contribution_maximum_1 domain_maximum.
Proof.
  intros x y s dx dy Hx Hy D. unfold contribution_maximum_0, contribution_maximum_1, real_ge, real_le.
  generalize (exists_derive _ _ _ Hx) (exists_derive _ _ _ Hy); intros Ex Ey.
  rewrite real_eq_false by exact D. destruct (Rtotal_order (x s) (y s)) as [L|[E|G]]; [| contradiction |].
  - rewrite real_lt_true by exact L. rewrite real_lt_false by lra. simpl. rewrite Rplus_0_l.
    apply derive_as with y; [|exact Hy]. generalize (below_near x y s Ex Ey L). apply filter_imp.
    intros r H. apply Rmax_right. lra.
  - rewrite real_lt_false by lra. rewrite real_lt_true by exact G. simpl. rewrite Rplus_0_r.
    apply derive_as with x; [|exact Hx]. generalize (below_near y x s Ey Ex G). apply filter_imp.
    intros r H. apply Rmax_left. lra.
Qed.

Theorem rule_minimum : binary_rule real_minimum contribution_minimum_0 contribution_minimum_1 domain_minimum.
Proof.
  intros x y s dx dy Hx Hy D. unfold contribution_minimum_0, contribution_minimum_1, real_ge, real_le.
  generalize (exists_derive _ _ _ Hx) (exists_derive _ _ _ Hy); intros Ex Ey.
  rewrite real_eq_false by exact D. destruct (Rtotal_order (x s) (y s)) as [L|[E|G]]; [| contradiction |].
  - rewrite (real_lt_false (y s) (x s)) by lra. rewrite (real_lt_true (x s) (y s)) by exact L. simpl. rewrite Rplus_0_r.
    apply derive_as with x; [|exact Hx]. generalize (below_near x y s Ex Ey L). apply filter_imp.
    intros r H. apply Rmin_left. lra.
  - rewrite (real_lt_true (y s) (x s)) by exact G. rewrite (real_lt_false (x s) (y s)) by lra. simpl. rewrite Rplus_0_l.
    apply derive_as with y; [|exact Hy]. generalize (below_near y x s Ey Ex G). apply filter_imp.
    intros r H. apply Rmin_right. lra.
Qed.

(** The kink of the maximum: along curves that meet with equal slope the half-and-half rule still gives the slope. *)
Theorem maximum_at_tie a t : contribution_maximum_0 a a t + contribution_maximum_1 a a t = t.
Proof.
  unfold contribution_maximum_0, contribution_maximum_1, real_ge, real_le, real_eq.
  rewrite real_lt_false by lra. simpl. destruct Req_EM_T; [field | contradiction].
Qed.

Lemma id_exists a : ex_derive (fun r : R => r) a.
Proof. auto_derive. exact I. Qed.

Theorem rule_sign : unary_rule real_sign contribution_sign_0 domain_sign.
Proof.
  apply unary_from; [linear|]. intros a D. unfold contribution_sign_0.
  destruct (Rtotal_order 0 a) as [P|[E|N]]; [| unfold domain_sign in D; congruence |].
  - apply constant_near with 1. generalize (near_above _ a 0 (id_exists a) P). apply filter_imp.
    intros r H. unfold real_sign. destruct Rlt_dec; [reflexivity | contradiction].
  - apply constant_near with (-1).
    generalize (near_above (fun r => - r) a 0 ltac:(auto_derive; exact I) ltac:(lra)). apply filter_imp.
    intros r H. unfold real_sign. destruct Rlt_dec; [lra|]. destruct Rlt_dec; [reflexivity | lra].
Qed.

Theorem rule_abs : unary_rule real_abs contribution_abs_0 domain_abs.
Proof.
  apply unary_from; [linear|]. intros a D. unfold contribution_abs_0, real_sign.
  destruct Rlt_dec as [P|P]; [|destruct Rlt_dec as [N|N]].
  - apply derive_as with (fun r => r); [|auto_derive; [exact I | ring]].
    generalize (near_above _ a 0 (id_exists a) P). apply filter_imp.
    intros r H. apply Rabs_pos_eq. lra.
  - apply derive_as with (fun r => - r); [|auto_derive; [exact I | ring]].
    generalize (near_above (fun r => - r) a 0 ltac:(auto_derive; exact I) ltac:(lra)). apply filter_imp.
    intros r H. apply Rabs_left. lra.
  - unfold domain_abs in D. exfalso. apply D. lra.
Qed.

Lemma floor_near a : ~ whole a -> locally a (fun r => Zfloor r = Zfloor a).
Proof.
  intros D. assert (B : IZR (Zfloor a) < a < IZR (Zfloor a + 1)).
  { generalize (Zfloor_lb a) (Zfloor_ub a). rewrite plus_IZR. intros L U. split; [|lra].
    destruct L as [L|L]; [exact L|]. exfalso. apply D. exists (Zfloor a). now symmetry. }
  generalize (near_interval _ a _ _ (id_exists a) B). apply filter_imp.
  intros r [L U]. apply Zfloor_imp. lra.
Qed.

Theorem rule_floor : unary_rule real_floor contribution_floor_0 domain_floor.
Proof.
  apply unary_from; [linear|]. intros a D. unfold contribution_floor_0.
  apply constant_near with (real_floor a). generalize (floor_near a D). apply filter_imp.
  intros r H. unfold real_floor. now rewrite H.
Qed.

Lemma ceil_near a : ~ whole a -> locally a (fun r => Zceil r = Zceil a).
Proof.
  intros D. assert (N : ~ whole (- a)).
  { intros [n H]. apply D. exists (- n)%Z. rewrite opp_IZR. lra. }
  generalize (near (fun r => - r) a _ ltac:(auto_derive; exact I) (floor_near (- a) N)). apply filter_imp.
  intros r H. unfold Zceil. now rewrite H.
Qed.

Theorem rule_ceil : unary_rule real_ceil contribution_ceil_0 domain_ceil.
Proof.
  apply unary_from; [linear|]. intros a D. unfold contribution_ceil_0.
  apply constant_near with (real_ceil a). generalize (ceil_near a D). apply filter_imp.
  intros r H. unfold real_ceil. now rewrite H.
Qed.

Theorem rule_trunc : unary_rule real_trunc contribution_trunc_0 domain_trunc.
Proof.
  apply unary_from; [linear|]. intros a D. unfold contribution_trunc_0.
  apply constant_near with (real_trunc a). unfold real_trunc.
  destruct (Rtotal_order 0 a) as [P|[E|N]].
  - generalize (filter_and _ _ (near_above _ a 0 (id_exists a) P) (floor_near a D)). apply filter_imp.
    intros r [H F]. rewrite !Ztrunc_floor by lra. now rewrite F.
  - exfalso. apply D. exists 0%Z. now symmetry.
  - assert (B : locally a (fun r => 0 < - r)).
    { apply (near_above (fun r => - r) a 0); [auto_derive; exact I | lra]. }
    generalize (filter_and _ _ B (ceil_near a D)). apply filter_imp.
    intros r [H F]. rewrite !Ztrunc_ceil by lra. now rewrite F.
Qed.

Theorem rule_round : unary_rule real_round contribution_round_0 domain_round.
Proof.
  apply unary_from; [linear|]. intros a D. unfold contribution_round_0.
  apply constant_near with (real_round a). unfold real_round. set (n := ZnearestE a).
  assert (B : IZR n - / 2 < a < IZR n + / 2).
  { generalize (Znearest_half (fun x => negb (Z.even x)) a). fold n. intros H.
    generalize (Rle_abs (a - IZR n)) (Rle_abs (- (a - IZR n))). rewrite Rabs_Ropp. intros U L.
    split; apply Rnot_le_lt; intros C; apply D.
    - exists (n - 1)%Z. rewrite minus_IZR. lra.
    - exists n. lra. }
  generalize (near_interval _ a _ _ (id_exists a) B). apply filter_imp. intros r H. f_equal.
  apply Znearest_imp. apply Rabs_def1; lra.
Qed.

Theorem rule_modulo : binary_rule real_modulo contribution_modulo_0 contribution_modulo_1 domain_modulo.
Proof.
  intros x y s dx dy Hx Hy [Y D]. unfold contribution_modulo_0, contribution_modulo_1.
  set (k := real_floor (x s / y s)).
  assert (Q : ex_derive (fun r => x r / y r) s).
  { auto_derive. repeat split; [now exists dx | now exists dy | exact Y]. }
  apply derive_as with (fun r => x r - y r * k).
  - generalize (near _ s _ Q (floor_near _ D)). apply filter_imp.
    intros r H. unfold real_modulo, k, real_floor. now rewrite H.
  - along x y s Hx Hy. ring.
Qed.
