(** IEEE 754 additions, infinities included: if the result of a tree of additions to nearest even is finite, then nothing
    overflowed on the way, and it is the tree's value in the format without overflow. So the bounds hold for the
    additions of machines, wherever their result is a number. *)
Require Import Reals ZArith Lia Lra List.
From Flocq Require Import Core BinarySingleNaN.
Require Import Etalon.tree Etalon.evaluation Etalon.floats Etalon.height Etalon.summation.
Local Open Scope R_scope.

Section Machine.

Variables p emax : Z.
Hypothesis p_positive : Prec_gt_0 p.
Hypothesis p_below_emax : Prec_lt_emax p emax.

Notation number := (binary_float p emax).
Notation emin := (3 - emax - p)%Z.
Definition to_even (x : Z) : bool := negb (Z.even x).

Inductive machine_tree : Type :=
  | MLeaf (x : number)
  | MNode (l r : machine_tree).

Fixpoint machine_sum (t : machine_tree) : number :=
  match t with
  | MLeaf x => x
  | MNode l r => Bplus mode_NE (machine_sum l) (machine_sum r)
  end.

(** The same tree over the real numbers that the leaves are. *)
Fixpoint over_reals (t : machine_tree) : tree :=
  match t with
  | MLeaf x => Leaf (B2R x)
  | MNode l r => Node (over_reals l) (over_reals r)
  end.

Lemma finite_operands (x y : number) : is_finite (Bplus mode_NE x y) = true -> is_finite x = true /\ is_finite y = true.
Proof. destruct x as [sx|sx| |sx mx ex Hx], y as [sy|sy| |sy my ey Hy]; simpl; try destruct (Bool.eqb sx sy); auto. Qed.

Theorem addition_is_nearest (x y : number) : is_finite (Bplus mode_NE x y) = true ->
  B2R (Bplus mode_NE x y) = nearest p emin to_even (B2R x + B2R y).
Proof.
  intros F. destruct (finite_operands x y F) as [Fx Fy].
  generalize (Bplus_correct p emax p_positive p_below_emax mode_NE x y Fx Fy).
  case Rlt_bool; [intros [H _]; exact H|].
  intros [H _]. exfalso. rewrite <- is_finite_SF_B2SF, H in F. discriminate F.
Qed.

Theorem machine_sum_is_rounded t : is_finite (machine_sum t) = true ->
  B2R (machine_sum t) = rounded p emin to_even (over_reals t).
Proof.
  induction t as [x|l IHl r IHr]; intros F; simpl; [reflexivity|].
  simpl in F. destruct (finite_operands _ _ F) as [Fl Fr].
  rewrite addition_is_nearest by exact F. now rewrite IHl, IHr.
Qed.

Lemma leaves_are_floats t x : In x (leaves (over_reals t)) -> is_float p emin x.
Proof.
  induction t as [y|l IHl r IHr]; simpl.
  - intros [<-|[]]. apply generic_format_B2R.
  - intros H. apply in_app_or in H. tauto.
Qed.

(** `summation_bound` holds for machine additions in any order whose result is finite. *)
Theorem machine_summation_bound q t largest squares sides s m declared :
  (emin <= q)%Z -> is_finite (machine_sum t) = true ->
  known q (over_reals t) largest squares sides s m ->
  match declared with Some h => (height (over_reals t) <= h)%nat | None => True end ->
  INR (size (over_reals t) - 1) * unit_roundoff p < 1 ->
  Rabs (B2R (machine_sum t) - total (over_reals t))
    <= summation_bound p q (size (over_reals t)) largest squares sides s m declared.
Proof.
  intros Hq F K D U. rewrite machine_sum_is_rounded by exact F.
  apply summation_bound_to_nearest; auto. apply leaves_are_floats.
Qed.

End Machine.

(** For instance single and double precision. *)
Definition single_sum_bound := machine_summation_bound 24 128 eq_refl eq_refl.
Definition double_sum_bound := machine_summation_bound 53 1024 eq_refl eq_refl.
