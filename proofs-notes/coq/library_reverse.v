(** The theorem of reverse.v for the operations that equations are made of: every scalar primitive of the derivative
    table as the library ships it, and sums, products and extrema over a range. *)
From Coquelicot Require Import Coquelicot.
Require Import Reals Lia Lra List.
Require Import Etalon.sums Etalon.scalar_functions Etalon.scalar_table Etalon.scalar_complete Etalon.curves
  Etalon.extrema Etalon.reverse.
Import ListNotations.
Local Open Scope R_scope.

Inductive operation : Type :=
  | Unary (p : unary)
  | Binary (p : binary)
  | Sum
  | Prod
  | Max
  | Min.

Fixpoint sum_of_list (xs : list R) : R := match xs with [] => 0 | x :: rest => x + sum_of_list rest end.
Fixpoint product_of_list (xs : list R) : R := match xs with [] => 1 | x :: rest => x * product_of_list rest end.

(** `product_of_others` of spec/derivative: the product without element i. *)
Fixpoint product_of_others (xs : list R) (i : nat) : R :=
  match xs, i with
  | [], _ => 1
  | _ :: rest, O => product_of_list rest
  | x :: rest, S j => x * product_of_others rest j
  end.

Definition value (o : operation) (xs : list R) : R :=
  match o, xs with
  | Unary p, [a] => unary_value p a
  | Binary p, [a; b] => binary_value p a b
  | Sum, _ => sum_of_list xs
  | Prod, _ => product_of_list xs
  | Max, _ => greatest xs
  | Min, _ => - greatest (map Ropp xs)
  | _, _ => 0
  end.

Definition contribution (o : operation) (xs : list R) (i : nat) (t : R) : R :=
  match o, xs, i with
  | Unary p, [a], O => unary_contribution_0 p a t
  | Binary p, [a; b], O => binary_contribution_0 p a b t
  | Binary p, [a; b], S O => binary_contribution_1 p a b t
  | Sum, _, _ => t
  | Prod, _, _ => t * product_of_others xs i
  | Max, _, _ => at_first xs i t
  | Min, _, _ => at_first (map Ropp xs) i t
  | _, _, _ => 0
  end.

(** Operands where the table's rule is the derivative; an operation with a wrong number of operands is nowhere in it. *)
Definition domain (o : operation) (xs : list R) : Prop :=
  match o, xs with
  | Unary p, [a] => unary_domain p a
  | Binary p, [a; b] => binary_domain p a b
  | Sum, _ | Prod, _ => True
  | Max, _ => attained_once xs
  | Min, _ => attained_once (map Ropp xs)
  | _, _ => False
  end.

Theorem contribution_is_linear o xs i t : contribution o xs i t = t * contribution o xs i 1.
Proof.
  destruct o as [p|p| | | |]; simpl.
  - destruct xs as [|a [|b l]]; try ring. destruct i; [apply every_unary_contribution_0_is_linear | ring].
  - destruct xs as [|a [|b [|c l]]]; try ring. destruct i as [|[|i]];
      [apply every_binary_contribution_0_is_linear | apply every_binary_contribution_1_is_linear | ring].
  - ring.
  - ring.
  - unfold at_first. destruct Nat.eqb; ring.
  - unfold at_first. destruct Nat.eqb; ring.
Qed.

Lemma add_up_ext g h i ds : (forall k d, (i <= k)%nat -> g k d = h k d) -> add_up g i ds = add_up h i ds.
Proof.
  revert i. induction ds as [|d rest IH]; intros i H; simpl; [reflexivity|].
  rewrite H by lia. f_equal. apply IH. intros; apply H; lia.
Qed.

Lemma add_up_shift g i ds : add_up g (S i) ds = add_up (fun k => g (S k)) i ds.
Proof. revert i. induction ds as [|d rest IH]; intros i; simpl; [reflexivity | now rewrite IH]. Qed.

Lemma add_up_scale g c i ds : add_up (fun k d => c * g k d) i ds = c * add_up g i ds.
Proof. revert i. induction ds as [|d rest IH]; intros i; simpl; [ring | rewrite IH; ring]. Qed.

Theorem sum_rule (xs : list (R -> R)) ds s : Forall2 (fun x d => is_derive x s d) xs ds ->
  is_derive (fun r => sum_of_list (map (fun x => x r) xs)) s (add_up (fun _ d => d) 0 ds).
Proof.
  generalize O as i. intros i H. revert i. induction H as [|x d xs ds Hx _ IH]; intros i; simpl.
  - apply (is_derive_const (K := R_AbsRing) (V := R_NormedModule)).
  - apply @is_derive_plus; [exact Hx | apply IH].
Qed.

Theorem product_rule (xs : list (R -> R)) ds s : Forall2 (fun x d => is_derive x s d) xs ds ->
  is_derive (fun r => product_of_list (map (fun x => x r) xs)) s
    (add_up (fun i d => d * product_of_others (map (fun x => x s) xs) i) 0 ds).
Proof.
  induction 1 as [|x d xs ds Hx _ IH]; simpl.
  - apply (is_derive_const (K := R_AbsRing) (V := R_NormedModule)).
  - set (rest := fun r => product_of_list (map (fun y => y r) xs)) in *.
    evar_last.
    + apply (is_derive_mult x rest s d _ Hx IH). intros; apply Rmult_comm.
    + unfold plus, mult; simpl. rewrite add_up_shift. f_equal.
      rewrite <- add_up_scale. apply add_up_ext. intros k e _. ring.
Qed.

Lemma add_up_past (l : list R) i k : (k < i)%nat -> add_up (fun j t => if Nat.eqb j k then t else 0) i l = 0.
Proof.
  revert i. induction l as [|e l IH]; intros i H; simpl; [reflexivity|].
  destruct (Nat.eqb_spec i k); [lia|]. rewrite IH by lia. ring.
Qed.

Lemma add_up_at (before after : list R) d i :
  add_up (fun j t => if Nat.eqb j (length before + i) then t else 0) i (before ++ d :: after) = d.
Proof.
  revert i. induction before as [|e before IH]; intros i; simpl.
  - rewrite Nat.eqb_refl, add_up_past by lia. ring.
  - destruct (Nat.eqb_spec i (S (length before + i))); [lia|]. rewrite <- Nat.add_succ_r, IH. ring.
Qed.

Lemma add_up_at_first xs before d after : length before = first_place (greatest xs) xs ->
  add_up (at_first xs) 0 (before ++ d :: after) = d.
Proof. intros L. rewrite <- (add_up_at before after d 0) at 2. unfold at_first. now rewrite <- L, Nat.add_0_r. Qed.

Theorem maximum_rule (xs : list (R -> R)) ds s : Forall2 (fun x d => is_derive x s d) xs ds ->
  attained_once (map (fun x => x s) xs) ->
  is_derive (fun r => greatest (map (fun x => x r) xs)) s (add_up (at_first (map (fun x => x s) xs)) 0 ds).
Proof.
  intros H A. destruct (greatest_rule xs ds s H A) as [before [d [after [-> [L D]]]]].
  now rewrite add_up_at_first.
Qed.

Lemma operation_rule o (xs : list (R -> R)) (ds : list R) s :
  Forall2 (fun x d => is_derive x s d) xs ds ->
  domain o (map (fun x => x s) xs) ->
  is_derive (fun r => value o (map (fun x => x r) xs)) s (add_up (contribution o (map (fun x => x s) xs)) 0 ds).
Proof.
  intros H D. destruct o as [p|p| | | |]; simpl.
  - destruct H as [|x d xs ds Hx [|y e ys es Hy H]]; simpl in D; try contradiction. simpl.
    rewrite Rplus_0_r. now apply every_unary_rule.
  - destruct H as [|x d xs ds Hx [|y e ys es Hy [|z f zs fs Hz H]]]; simpl in D; try contradiction. simpl.
    rewrite Rplus_0_r. now apply every_binary_rule.
  - now apply sum_rule.
  - now apply product_rule.
  - now apply maximum_rule.
  - simpl in D. set (ys := map (fun (x : R -> R) r => - x r) xs).
    assert (E : forall r, map Ropp (map (fun x => x r) xs) = map (fun y => y r) ys).
    { intros r. unfold ys. rewrite !map_map. reflexivity. }
    assert (Hy : Forall2 (fun y e => is_derive y s e) ys (map Ropp ds)).
    { unfold ys. clear D E ys. induction H; simpl; constructor; [now apply @is_derive_opp | assumption]. }
    rewrite E in D. generalize (maximum_rule ys (map Ropp ds) s Hy D). rewrite <- E. intros M.
    apply (is_derive_ext (fun r => - greatest (map (fun y => y r) ys))); [intros r; now rewrite E|].
    evar_last; [apply @is_derive_opp; exact M|].
    simpl. set (zs := map Ropp (map (fun x => x s) xs)). clearbody zs. clear. generalize O as i.
    induction ds as [|e ds IH]; intros i; simpl; [unfold opp; simpl; ring|].
    rewrite <- IH. unfold at_first, opp; simpl. destruct Nat.eqb; ring.
Qed.

(** For every program of the library's operations, differentiable at the point: the reverse sweep with the table's rules
    is the adjoint of the derivative of the program's own evaluation. *)
Theorem library_reverse_sweep (p : list (expr operation)) n seeds (x : R -> environment) (d : environment) s :
  (forall v, is_derive (fun r => x r v) s (d v)) ->
  regular_program operation value domain n p (x s) ->
  Forall (fun entry => (fst entry < n + length p)%nat) seeds ->
  is_derive (fun r => weighted seeds (run operation value n p (x r))) s
    (sum_from 0 n (fun v => cotangent (sweep operation value contribution n p (x s) seeds) v * d v)).
Proof. apply reverse_sweep; [apply contribution_is_linear | apply operation_rule]. Qed.

Theorem library_gradient (p : list (expr operation)) n i seeds (env : environment) :
  (i < n)%nat -> regular_program operation value domain n p env ->
  Forall (fun entry => (fst entry < n + length p)%nat) seeds ->
  is_derive (fun r => weighted seeds (run operation value n p (update env i r))) (env i)
    (cotangent (sweep operation value contribution n p env seeds) i).
Proof. apply reverse_sweep_gives_partials; [apply contribution_is_linear | apply operation_rule]. Qed.
