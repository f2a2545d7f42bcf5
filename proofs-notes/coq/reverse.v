(** Straight-line programs and the reverse sweep that spec/derivative/vjp.cpp builds. A program is a list of
    expressions; each defines the next variable from earlier ones, any number of times each (fan-out) or never (unused).
    The operations are a parameter: what they compute, what each argument contributes to a tangent, where that is right.
    Theorem: along every differentiable curve of the inputs, the derivative of the weighted results *of the program's
    own evaluation* is the product of the cotangents of the inputs with the curve's tangent. *)
From Coquelicot Require Import Coquelicot.
Require Import Reals Lia Lra List Bool FunctionalExtensionality.
Require Import Etalon.sums.
Import ListNotations.
Local Open Scope R_scope.

Section Programs.

Variable op : Type.
Variable value : op -> list R -> R.
(** What a tangent t of argument i gives to the result's; a cotangent of the result gives as much to the argument. *)
Variable contribution : op -> list R -> nat -> R -> R.
Variable domain : op -> list R -> Prop.

(** Values of the variables, by number. *)
Definition environment : Type := nat -> R.

Inductive expr : Type :=
  | Constant (c : R)
  | Read (v : nat)
  | Apply (o : op) (args : list expr)
  | Select (c : environment -> bool) (a b : expr).

Fixpoint eval (env : environment) (e : expr) : R :=
  match e with
  | Constant c => c
  | Read v => env v
  | Apply o args => value o (map (eval env) args)
  | Select c a b => if c env then eval env a else eval env b
  end.

(** g 0 d0 + g 1 d1 + ..., counting from i. *)
Fixpoint add_up (g : nat -> R -> R) (i : nat) (ds : list R) : R :=
  match ds with
  | [] => 0
  | d :: rest => g i d + add_up g (S i) rest
  end.

Hypothesis linear : forall o xs i t, contribution o xs i t = t * contribution o xs i 1.

(** Each operation's rule, along every curve of its arguments. *)
Hypothesis rule : forall o (xs : list (R -> R)) (ds : list R) s,
  Forall2 (fun x d => is_derive x s d) xs ds ->
  domain o (map (fun x => x s) xs) ->
  is_derive (fun r => value o (map (fun x => x r) xs)) s
    (add_up (contribution o (map (fun x => x s) xs)) 0 ds).

(** The tangent of an expression, given those of the variables: what spec/derivative/jvp.cpp builds. *)
Fixpoint tangent (env d : environment) (e : expr) : R :=
  match e with
  | Constant _ => 0
  | Read v => d v
  | Apply o args => add_up (contribution o (map (eval env) args)) 0 (map (tangent env d) args)
  | Select c a b => if c env then tangent env d a else tangent env d b
  end.

(** What an expression with cotangent c gives to the variables that it reads: `Transposition::pull`. *)
Fixpoint pull (env : environment) (e : expr) (c : R) : list (nat * R) :=
  match e with
  | Constant _ => []
  | Read v => [(v, c)]
  | Apply o args =>
      (fix each (i : nat) (l : list expr) : list (nat * R) :=
         match l with
         | [] => []
         | a :: rest => pull env a (contribution o (map (eval env) args) i c) ++ each (S i) rest
         end) O args
  | Select d a b => if d env then pull env a c else pull env b c
  end.

(** A decision is settled where every differentiable curve through the point takes it alike nearby. *)
Definition settled (c : environment -> bool) (env : environment) : Prop :=
  forall (x : R -> environment) s, x s = env -> (forall v, ex_derive (fun r => x r v) s) ->
    locally s (fun r => c (x r) = c env).

(** The expression is differentiable at the point: operations inside their domains, decisions settled. *)
Fixpoint regular (env : environment) (e : expr) : Prop :=
  match e with
  | Constant _ | Read _ => True
  | Apply o args =>
      domain o (map (eval env) args) /\
      (fix all (l : list expr) : Prop := match l with [] => True | a :: rest => regular env a /\ all rest end) args
  | Select c a b => settled c env /\ (if c env then regular env a else regular env b)
  end.

Fixpoint reads_below (n : nat) (e : expr) : Prop :=
  match e with
  | Constant _ => True
  | Read v => (v < n)%nat
  | Apply _ args =>
      (fix all (l : list expr) : Prop := match l with [] => True | a :: rest => reads_below n a /\ all rest end) args
  | Select _ a b => reads_below n a /\ reads_below n b
  end.

Definition update (env : environment) (n : nat) (x : R) : environment := fun v => if Nat.eqb v n then x else env v.

(** The program's own evaluation; its first expression defines variable n. *)
Fixpoint run (n : nat) (p : list expr) (env : environment) : environment :=
  match p with
  | [] => env
  | e :: rest => run (S n) rest (update env n (eval env e))
  end.

Fixpoint regular_program (n : nat) (p : list expr) (env : environment) : Prop :=
  match p with
  | [] => True
  | e :: rest => reads_below n e /\ regular env e /\ regular_program (S n) rest (update env n (eval env e))
  end.

(** All that a variable has been given. *)
Fixpoint cotangent (given : list (nat * R)) (v : nat) : R :=
  match given with
  | [] => 0
  | (w, c) :: rest => (if Nat.eqb w v then c else 0) + cotangent rest v
  end.

Definition reached (given : list (nat * R)) (v : nat) : bool := existsb (fun entry => Nat.eqb (fst entry) v) given.

(** `Reverse::run`: from the last equation to the first, each with the cotangent that all later ones have given it;
    equations that nothing reached are passed over. *)
Fixpoint sweep (n : nat) (p : list expr) (env : environment) (seeds : list (nat * R)) : list (nat * R) :=
  match p with
  | [] => seeds
  | e :: rest =>
      let given := sweep (S n) rest (update env n (eval env e)) seeds in
      if reached given n then given ++ pull env e (cotangent given n) else given
  end.

(** The results, weighted by their cotangents. *)
Fixpoint weighted (seeds : list (nat * R)) (env : environment) : R :=
  match seeds with
  | [] => 0
  | (v, c) :: rest => c * env v + weighted rest env
  end.

Section Induction.
Variable P : expr -> Prop.
Hypothesis on_constant : forall c, P (Constant c).
Hypothesis on_read : forall v, P (Read v).
Hypothesis on_apply : forall o args, Forall P args -> P (Apply o args).
Hypothesis on_select : forall c a b, P a -> P b -> P (Select c a b).

Fixpoint expr_induction (e : expr) : P e :=
  match e with
  | Constant c => on_constant c
  | Read v => on_read v
  | Apply o args =>
      on_apply o args
        ((fix all (l : list expr) : Forall P l :=
            match l with
            | [] => Forall_nil P
            | a :: rest => Forall_cons a (expr_induction a) (all rest)
            end) args)
  | Select c a b => on_select c a b (expr_induction a) (expr_induction b)
  end.
End Induction.

(** The derivative of an expression's evaluation is its tangent. *)
Theorem evaluation_derives (x : R -> environment) (d : environment) s e :
  (forall v, is_derive (fun r => x r v) s (d v)) -> regular (x s) e ->
  is_derive (fun r => eval (x r) e) s (tangent (x s) d e).
Proof.
  intros Hx. induction e as [c|v|o args IH|c a b IHa IHb] using expr_induction; intros R; simpl.
  - apply (is_derive_const (K := R_AbsRing) (V := R_NormedModule) c s).
  - apply Hx.
  - destruct R as [D R].
    set (xs := map (fun a r => eval (x r) a) args).
    assert (E : forall r, map (eval (x r)) args = map (fun f => f r) xs).
    { intros r. unfold xs. rewrite map_map. reflexivity. }
    apply (is_derive_ext (fun r => value o (map (fun f => f r) xs))); [intros r; now rewrite E|].
    simpl in D. rewrite E in D. rewrite E. apply rule; [|exact D].
    unfold xs. clear D E xs. induction args as [|a rest IHrest]; simpl; constructor.
    + inversion IH. destruct R as [Ra _]. auto.
    + inversion IH. destruct R as [_ Rr]. apply IHrest; assumption.
  - destruct R as [S R].
    assert (L : locally s (fun r => c (x r) = c (x s))).
    { apply S; [reflexivity|]. intros v. exists (d v). apply Hx. }
    destruct (c (x s)).
    + apply is_derive_ext_loc with (fun r => eval (x r) a); [|now apply IHa].
      revert L. apply filter_imp. intros r H. now rewrite H.
    + apply is_derive_ext_loc with (fun r => eval (x r) b); [|now apply IHb].
      revert L. apply filter_imp. intros r H. now rewrite H.
Qed.

(** The curve of all variables, written and not, stays differentiable from one equation to the next. *)
Lemma update_derives (x : R -> environment) (d : environment) n (f : R -> R) df s :
  (forall v, is_derive (fun r => x r v) s (d v)) -> is_derive f s df ->
  forall v, is_derive (fun r => update (x r) n (f r) v) s (update d n df v).
Proof. intros Hx Hf v. unfold update. destruct (Nat.eqb v n); auto. Qed.

Lemma weighted_app a b env : weighted (a ++ b) env = weighted a env + weighted b env.
Proof. induction a as [|[v c] a IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma cotangent_app a b v : cotangent (a ++ b) v = cotangent a v + cotangent b v.
Proof. induction a as [|[w c] a IH]; simpl; [ring | rewrite IH; ring]. Qed.

(** Pulling is the adjoint of the tangent. *)
Theorem pull_is_adjoint env d e c : weighted (pull env e c) d = c * tangent env d e.
Proof.
  revert c. induction e as [k|v|o args IH|k a b IHa IHb] using expr_induction; intros c; simpl; try ring.
  - set (xs := map (eval env) args). generalize O as i. unfold xs at 1. fold xs.
    clearbody xs. induction args as [|a rest IHrest]; intros i; simpl; [ring|].
    inversion IH; subst. rewrite weighted_app, H1. rewrite IHrest by assumption.
    rewrite (linear o xs i c), (linear o xs i (tangent env d a)). ring.
  - destruct (k env); auto.
Qed.

Lemma pull_below env e n c : reads_below n e -> Forall (fun entry => (fst entry < n)%nat) (pull env e c).
Proof.
  revert c. induction e as [k|v|o args IH|k a b IHa IHb] using expr_induction; intros c H; simpl in *.
  - constructor.
  - repeat constructor. exact H.
  - set (xs := map (eval env) args). generalize O as i. clearbody xs.
    induction args as [|a rest IHrest]; intros i; simpl; [constructor|].
    inversion IH; subst. destruct H as [Ha Hr]. apply Forall_app. split; auto.
  - destruct H. destruct (k env); auto.
Qed.

Lemma sum_of_one (w : nat) (c : R) (d : nat -> R) a m : (a <= w < a + m)%nat ->
  sum_from a m (fun v => (if Nat.eqb w v then c else 0) * d v) = c * d w.
Proof.
  revert a. induction m as [|m IHm]; intros a B; [lia|]. simpl. destruct (Nat.eqb_spec w a) as [E|E].
  - subst a. rewrite (sum_from_eq _ (fun _ => 0) (S w) 0).
    + rewrite sum_from_constant. ring.
    + intros i _. destruct (Nat.eqb_spec w (S w + i)); [lia | ring].
  - rewrite IHm by lia. ring.
Qed.

(** Sums over entries and sums over variables agree. *)
Lemma weighted_by_variable given d n : Forall (fun entry => (fst entry < n)%nat) given ->
  weighted given d = sum_from 0 n (fun v => cotangent given v * d v).
Proof.
  induction given as [|[w c] rest IH]; intros H; simpl.
  - rewrite (sum_from_eq _ (fun _ => 0) 0 0) by (intros; ring). rewrite sum_from_constant. ring.
  - inversion H; subst. rewrite IH by assumption.
    rewrite (sum_from_eq (fun v => ((if Nat.eqb w v then c else 0) + cotangent rest v) * d v)
      (fun v => (if Nat.eqb w v then c else 0) * d v + cotangent rest v * d v) 0 0) by (intros; ring).
    rewrite sum_from_plus. f_equal. simpl in H2.
    rewrite sum_of_one by lia. ring.
Qed.

Lemma not_reached given n : reached given n = false -> cotangent given n = 0.
Proof.
  induction given as [|[w c] rest IH]; simpl; [reflexivity|].
  destruct (Nat.eqb w n); simpl; [discriminate|]. intros H. rewrite IH by exact H. ring.
Qed.

Lemma weighted_derives (x : R -> environment) (d : environment) seeds s :
  (forall v, is_derive (fun r => x r v) s (d v)) ->
  is_derive (fun r => weighted seeds (x r)) s (weighted seeds d).
Proof.
  intros H. induction seeds as [|[v c] rest IH]; simpl.
  - apply (is_derive_const (K := R_AbsRing) (V := R_NormedModule) 0 s).
  - apply @is_derive_plus; [|exact IH]. apply (is_derive_scal (fun r => x r v)). apply H.
Qed.

(** The reverse sweep of a program is the adjoint of the derivative of the program's own evaluation. *)
Theorem reverse_sweep (p : list expr) (n : nat) (seeds : list (nat * R)) (x : R -> environment) (d : environment) s :
  (forall v, is_derive (fun r => x r v) s (d v)) ->
  regular_program n p (x s) ->
  Forall (fun entry => (fst entry < n + length p)%nat) seeds ->
  is_derive (fun r => weighted seeds (run n p (x r))) s
    (sum_from 0 n (fun v => cotangent (sweep n p (x s) seeds) v * d v)).
Proof.
  revert n x d. induction p as [|e rest IH]; intros n x d Hx R B; simpl.
  - simpl in B. rewrite Nat.add_0_r in B. rewrite <- weighted_by_variable by exact B. now apply weighted_derives.
  - destruct R as [Below [Re Rr]].
    assert (De : is_derive (fun r => eval (x r) e) s (tangent (x s) d e)) by now apply evaluation_derives.
    set (x' := fun r => update (x r) n (eval (x r) e)).
    set (d' := update d n (tangent (x s) d e)).
    assert (Hx' : forall v, is_derive (fun r => x' r v) s (d' v)) by (apply update_derives; assumption).
    simpl length in B. rewrite Nat.add_succ_r in B.
    generalize (IH (S n) x' d' Hx' Rr B). change (x' s) with (update (x s) n (eval (x s) e)).
    set (given := sweep (S n) rest (update (x s) n (eval (x s) e)) seeds).
    rewrite sum_from_last. change (0 + n)%nat with n. cbv beta.
    assert (Old : sum_from 0 n (fun v => cotangent given v * d' v) = sum_from 0 n (fun v => cotangent given v * d v)).
    { apply sum_from_eq. intros i Hi. unfold d', update. simpl.
      destruct (Nat.eqb_spec i n); [lia | reflexivity]. }
    assert (New : d' n = tangent (x s) d e) by (unfold d', update; now rewrite Nat.eqb_refl).
    rewrite Old, New. intros H. evar_last; [exact H|].
    destruct (reached given n) eqn:Reach.
    + rewrite <- pull_is_adjoint.
      rewrite (weighted_by_variable _ d n) by now apply pull_below.
      rewrite <- sum_from_plus. apply sum_from_eq. intros i _. rewrite cotangent_app. simpl; ring.
    + rewrite not_reached by exact Reach. simpl; ring.
Qed.

(** The tangents of all variables: the forward sweep. *)
Fixpoint run_tangent (n : nat) (p : list expr) (env d : environment) : environment :=
  match p with
  | [] => d
  | e :: rest => run_tangent (S n) rest (update env n (eval env e)) (update d n (tangent env d e))
  end.

(** The forward sweep is the derivative of the program's own evaluation, variable by variable. *)
Theorem forward_sweep (p : list expr) (n : nat) (x : R -> environment) (d : environment) s :
  (forall v, is_derive (fun r => x r v) s (d v)) -> regular_program n p (x s) ->
  forall v, is_derive (fun r => run n p (x r) v) s (run_tangent n p (x s) d v).
Proof.
  revert n x d. induction p as [|e rest IH]; intros n x d Hx R v; simpl; [apply Hx|].
  destruct R as [_ [Re Rr]].
  apply (IH (S n) (fun r => update (x r) n (eval (x r) e)) (update d n (tangent (x s) d e))); [|exact Rr].
  apply update_derives; [exact Hx | now apply evaluation_derives].
Qed.

(** In particular the cotangent of input i is the partial derivative in that input. *)
Corollary reverse_sweep_gives_partials (p : list expr) (n i : nat) (seeds : list (nat * R)) (env : environment) :
  (i < n)%nat -> regular_program n p env -> Forall (fun entry => (fst entry < n + length p)%nat) seeds ->
  is_derive (fun r => weighted seeds (run n p (update env i r))) (env i) (cotangent (sweep n p env seeds) i).
Proof.
  intros Hi Hr Hs.
  assert (E : update env i (env i) = env).
  { apply functional_extensionality. intros v. unfold update. destruct (Nat.eqb_spec v i); congruence. }
  set (d := fun v => if Nat.eqb v i then 1 else 0).
  assert (D : forall v, is_derive (fun r => update env i r v) (env i) (d v)).
  { intros v. unfold update, d. destruct (Nat.eqb v i).
    - apply (is_derive_id (K := R_AbsRing)).
    - apply (is_derive_const (K := R_AbsRing) (V := R_NormedModule)). }
  generalize (reverse_sweep p n seeds (update env i) d (env i) D). rewrite E. intros H.
  evar_last; [now apply H|].
  transitivity (sum_from 0 n (fun v => (if Nat.eqb i v then cotangent (sweep n p env seeds) i else 0) * 1)).
  - apply sum_from_eq. intros k _. simpl. unfold d. rewrite (Nat.eqb_sym k i).
    destruct (Nat.eqb_spec i k) as [->|_]; ring.
  - rewrite (sum_of_one i _ (fun _ => 1)) by lia. ring.
Qed.

End Programs.
