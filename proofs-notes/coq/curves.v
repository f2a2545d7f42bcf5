(** From derivatives to rules: how a primitive's derivative carries over to the curves that run through it, and when a
    function that is constant, or one of several formulas, near a point has the derivative of that formula. *)
Require Import Reals ZArith Lra.
From Flocq Require Import Core.
From Coquelicot Require Import Coquelicot.
Require Import Etalon.scalar_functions.
Local Open Scope R_scope.

Lemma unary_from (f : R -> R) (c : R -> R -> R) (domain : R -> Prop) :
  linear_1 c -> (forall a, domain a -> is_derive f a (c a 1)) -> unary_rule f c domain.
Proof.
  intros L H x s dx Hx D. rewrite L. apply (is_derive_comp f x s (c (x s) 1) dx); auto.
Qed.

(** Near a point where g is continuous, what holds near g's value holds of g. *)
Lemma near (g : R -> R) (s : R) (P : R -> Prop) : ex_derive g s -> locally (g s) P -> locally s (fun r => P (g r)).
Proof. intros H L. exact (ex_derive_continuous g s H P L). Qed.

Lemma near_interval (g : R -> R) (s a b : R) : ex_derive g s -> a < g s < b -> locally s (fun r => a < g r < b).
Proof.
  intros H [Ha Hb]. apply (near g s (fun y => a < y < b) H).
  apply (locally_interval _ _ (Finite a) (Finite b)); simpl; auto.
Qed.

Lemma near_above (g : R -> R) (s a : R) : ex_derive g s -> a < g s -> locally s (fun r => a < g r).
Proof.
  intros H Ha. generalize (near_interval g s a (g s + 1) H ltac:(lra)).
  apply filter_imp. intros r [L _]. exact L.
Qed.

(** A function that is another one near s has its derivative. *)
Lemma derive_as (g f : R -> R) (s d : R) : locally s (fun r => f r = g r) -> is_derive g s d -> is_derive f s d.
Proof.
  intros E. apply is_derive_ext_loc. revert E. apply filter_imp. intros r H. now symmetry.
Qed.

Lemma constant_near (f : R -> R) (s c : R) : locally s (fun r => f r = c) -> is_derive f s 0.
Proof.
  intros E. apply derive_as with (fun _ => c); [exact E|].
  apply (is_derive_const (K := R_AbsRing) (V := R_NormedModule) c s).
Qed.

Lemma exists_derive (x : R -> R) s dx : is_derive x s dx -> ex_derive x s.
Proof. now exists dx. Qed.

(** Contributions are linear in the tangent. *)
Ltac linear :=
  unfold linear_1, linear_2; intros; autounfold with contributions; cbv iota;
  repeat match goal with |- context [if ?b then _ else _] => destruct b; cbv iota end; unfold Rdiv; ring.

(** The derivative along the curves x and y of a formula that auto_derive can read. *)
Ltac along x y s Hx Hy :=
  auto_derive;
  [ repeat split; try (apply (exists_derive _ _ _ Hx)); try (apply (exists_derive _ _ _ Hy))
  | try (change (Derive (fun r => x r) s) with (Derive x s)); try (change (Derive (fun r => y r) s) with (Derive y s));
    rewrite ?(is_derive_unique x s _ Hx), ?(is_derive_unique y s _ Hy) ].
