(** The functions of reference/bounds/summation.cpp, line by line but in real numbers, and that they are right: no
    conforming evaluation of a sum, in any tree, is farther from the exact sum than they say. *)
Require Import Reals ZArith Lia Lra List Permutation.
From Flocq Require Import Core.
Require Import Etalon.sums Etalon.tree Etalon.chain Etalon.evaluation Etalon.floats Etalon.fast Etalon.height
  Etalon.blocks.
Local Open Scope R_scope.

(** `lemma`: everything but f. *)
Definition lemma (p q : Z) (n : nat) (total : R) (f : nat -> R) : R :=
  let u := unit_roundoff p in
  let nu := INR (n - 1) * u in
  let half := Nat.div2 n in
  let big := sum_up 2 n (fun _ k => f k) in
  let halves := sum_up 2 half (fun _ k => f k) + sum_up 2 (n - half) (fun _ k => f k) in
  let w := Rmin big (halves + INR (n - half) * total) in
  let t0 := u * w / (1 - nu) in
  let g := node_cost p q t0 in
  let all := sum_up 2 n (fun _ k => g (f k)) in
  let chain := sum_up 2 half (fun _ k => g (f k)) + sum_up 2 (n - half) (fun _ k => g (f k)) + g total
    + sum_up 1 (n - half - 1) (fun j last => Rmax 0 (g (total + f last) - g (f (j + 1)%nat))) in
  Rmin t0 (Rmin (u * all) (u * chain)).

Theorem lemma_bounds (p q : Z) (f : nat -> R) (t : tree) (s y : R) :
  evaluates p q t y ->
  (forall x, In x (leaves t) -> multiple q x) ->
  bounds_partial_sums f (leaves t) -> nondecreasing_to (size t) f -> (forall k, 0 <= f k) ->
  Rabs (total t) <= s ->
  (2 <= size t)%nat -> INR (size t - 1) * unit_roundoff p < 1 ->
  Rabs (y - total t) <= lemma p q (size t) s f.
Proof.
  intros Hy Hq Hf Hm H0 Hs Hn Hu. destruct (errors_exist p q t y Hy) as [e He].
  apply Rle_trans with e; [now apply error_below with (1 := He)|].
  generalize (errors_nonnegative p q t y e He) (unit_positive p); intros E0 U0.
  assert (S0 : 0 <= s) by (apply Rle_trans with (2 := Hs); apply Rabs_pos).
  set (n := size t) in *. set (half := Nat.div2 n). assert (Hh : (half < n)%nat) by (apply Nat.lt_div2; lia).
  assert (Above : forall g m, (m <= n)%nat -> nondecreasing g ->
    from_two (fun k => g (f k)) m <= sum_up 2 m (fun _ k => g (f k))).
  { intros g m Hmn Hg. apply from_two_above. intros i j H1 H2. apply Hg; [apply H0 | apply Hm; lia]. }
  assert (Id : nondecreasing (fun x => x)) by (intros a b _ H; exact H).
  generalize (Above (fun x => x) n ltac:(lia) Id) (Above (fun x => x) half ltac:(lia) Id)
    (Above (fun x => x) (n - half)%nat ltac:(lia) Id); intros A1 A2 A3.
  change (from_two (fun k => f k) n) with (from_two f n) in A1.
  change (from_two (fun k => f k) half) with (from_two f half) in A2.
  change (from_two (fun k => f k) (n - half)) with (from_two f (n - half)) in A3.
  assert (W : over_nodes (fun x => x) t <=
    Rmin (sum_up 2 n (fun _ k => f k))
      (sum_up 2 half (fun _ k => f k) + sum_up 2 (n - half) (fun _ k => f k) + INR (n - half) * s)).
  { generalize (nodes_below_w f t s Hf Hm H0 Hn Hs). unfold w. fold n. fold half. intros B.
    apply Rmin_glb.
    - apply Rle_trans with (1 := B). apply Rle_trans with (1 := Rmin_l _ _). exact A1.
    - apply Rle_trans with (1 := B). apply Rle_trans with (1 := Rmin_r _ _). lra. }
  unfold lemma. fold half.
  set (w' := Rmin (sum_up 2 n (fun _ k => f k))
    (sum_up 2 half (fun _ k => f k) + sum_up 2 (n - half) (fun _ k => f k) + INR (n - half) * s)) in *.
  set (b := unit_roundoff p * w' / (1 - INR (n - 1) * unit_roundoff p)).
  assert (T : e <= b).
  { generalize (errors_relative p q t y e e He (Rle_refl e)). rewrite over_nodes_shift. fold n. intros R.
    unfold b. apply Rmult_le_reg_r with (1 - INR (n - 1) * unit_roundoff p); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (M : unit_roundoff p * over_nodes (fun x => x) t <= unit_roundoff p * w') by (apply Rmult_le_compat_l; lra).
    lra. }
  generalize (errors_on_grid p q t y e b He Hq T); intros G.
  assert (N : nondecreasing (node_cost p q b)) by (apply node_cost_nondecreasing; lra).
  apply Rmin_glb; [exact T|]. apply Rmin_glb; apply Rle_trans with (1 := G); apply Rmult_le_compat_l; try lra.
  - apply Rle_trans with (2 := Above (node_cost p q b) n ltac:(lia) N). now apply nodes_cost.
  - apply Rle_trans with (1 := chain_bounds_nodes f (node_cost p q b) t s Hf Hm H0 N Hn Hs).
    unfold chain_cost. fold n. fold half.
    generalize (Above (node_cost p q b) half ltac:(lia) N) (Above (node_cost p q b) (n - half)%nat ltac:(lia) N).
    assert (D : sum_from 1 (n - half - 1)
        (fun j => Rmax 0 (node_cost p q b (s + f j) - node_cost p q b (f (j + 1)%nat)))
      <= sum_up 1 (n - half - 1)
        (fun j last => Rmax 0 (node_cost p q b (s + f last) - node_cost p q b (f (j + 1)%nat)))).
    { replace (n - half - 1)%nat with (n - half - 1 + 1 - 1)%nat at 1 by lia.
      apply sum_up_above. intros lo i hi H1 H2. apply Rle_max_compat_l.
      assert (node_cost p q b (s + f i) <= node_cost p q b (s + f hi)).
      { apply N; [generalize (H0 i); lra|]. apply Rplus_le_compat_l. apply Hm; lia. }
      assert (node_cost p q b (f (lo + 1)%nat) <= node_cost p q b (f (i + 1)%nat)).
      { apply N; [apply H0 | apply Hm; lia]. }
      lra. }
    lra.
Qed.

(** Of two terms nothing but their sum is rounded. *)
Theorem two_terms p q t s y : evaluates p q t y -> (forall x, In x (leaves t) -> multiple q x) -> size t = 2%nat ->
  Rabs (total t) <= s -> Rabs (y - total t) <= unit_roundoff p * node_cost p q 0 s.
Proof.
  intros Hy Hq Hn Hs. destruct Hy as [x|l r a b c Ha Hb [Hc [_ Hg]]]; [discriminate|].
  cbn [size] in Hn. generalize (size_positive l) (size_positive r); intros Pl Pr.
  destruct l as [x|l1 l2]; [|cbn [size] in Hn; generalize (size_positive l1) (size_positive l2); lia].
  destruct r as [z|r1 r2]; [|cbn [size] in Hn; generalize (size_positive r1) (size_positive r2); lia].
  inversion Ha; inversion Hb; subst. cbn [total] in *. unfold node_cost. case Rlt_bool_spec; intros G.
  - apply Rle_trans with (1 := Hc). apply Rmult_le_compat_l; [apply Rlt_le, unit_positive|]. apply ufp_le.
    rewrite Rplus_0_r. apply Rle_trans with (1 := Hs). apply Rle_abs.
  - rewrite Hg; [rewrite Rminus_eq_0, Rabs_R0; lra | | lra].
    apply multiple_plus; apply Hq; simpl; auto.
Qed.

(** Where the magnitudes add up to a number that the grid holds, nothing is lost. *)
Theorem exact_on_grid p q t y : evaluates p q t y -> (forall x, In x (leaves t) -> multiple q x) ->
  magnitudes t <= pow2 (p + q) -> y = total t.
Proof.
  assert (Below : forall v, Rabs (total v) <= magnitudes v).
  { induction v as [x|l IHl r IHr]; simpl; [lra | generalize (Rabs_triang (total l) (total r)); lra]. }
  assert (Grid : forall v, (forall x, In x (leaves v) -> multiple q x) -> multiple q (total v)).
  { induction v as [x|l IHl r IHr]; intros H; simpl; [apply H; now left|].
    apply multiple_plus; [apply IHl | apply IHr]; intros; apply H, in_or_app; auto. }
  induction 1 as [t|l r a b c _ IHl _ IHr [_ [_ Hc]]]; intros Hq Hm; [reflexivity|]. cbn [magnitudes total] in *.
  assert (Ql : forall x, In x (leaves l) -> multiple q x) by (intros; apply Hq, in_or_app; auto).
  assert (Qr : forall x, In x (leaves r) -> multiple q x) by (intros; apply Hq, in_or_app; auto).
  generalize (magnitudes_nonnegative l) (magnitudes_nonnegative r); intros Ml Mr.
  rewrite <- IHl, <- IHr by (auto; lra). apply Hc.
  - rewrite IHl, IHr by (auto; lra). apply multiple_plus; auto.
  - rewrite IHl, IHr by (auto; lra). apply Rle_trans with (1 := Rabs_triang _ _).
    generalize (Below l) (Below r). lra.
Qed.

Lemma height_below_size t : (height t <= size t - 1)%nat.
Proof. induction t as [x|l IHl r IHr]; simpl; [lia|]. generalize (size_positive l) (size_positive r). lia. Qed.

(** `summation_bound`: suprema of what the terms have in common, and the height of the trees if one is declared. *)
Definition summation_bound (p q : Z) (count : nat) (largest squares sides total magnitudes : R)
    (declared : option nat) : R :=
  if Nat.leb count 1 then 0
  else if Rle_bool magnitudes (pow2 (p + q)) then 0
  else if Nat.eqb count 2 then unit_roundoff p * node_cost p q 0 (Rmin total sides)
  else
    let bound := lemma p q count (Rmin total sides) (fast largest squares sides) in
    match declared with
    | None => bound
    | Some h =>
        let hu := INR (Nat.min (count - 1) h) * unit_roundoff p in
        Rmin bound (hu / (1 - hu) * magnitudes)
    end.

(** What is known of the terms: bounds of all that `Terms` gathers. *)
Record known (q : Z) (t : tree) (largest squares sides s m : R) : Prop := {
  on_grid : forall x, In x (leaves t) -> multiple q x;
  by_largest : forall x, In x (leaves t) -> Rabs x <= largest;
  by_squares : Rmax (sum_of (fun x => square (positive_part x)) (leaves t))
                    (sum_of (fun x => square (negative_part x)) (leaves t)) <= squares;
  by_sides : Rmax (sum_of positive_part (leaves t)) (sum_of negative_part (leaves t)) <= sides;
  by_total : Rabs (total t) <= s;
  by_magnitudes : Etalon.height.magnitudes t <= m
}.

(** No conforming evaluation is outside the bound. *)
Theorem summation_bound_holds p q t y largest squares sides s m declared :
  evaluates p q t y -> known q t largest squares sides s m ->
  match declared with Some h => (height t <= h)%nat | None => True end ->
  INR (size t - 1) * unit_roundoff p < 1 ->
  Rabs (y - total t) <= summation_bound p q (size t) largest squares sides s m declared.
Proof.
  intros Hy [Hq Hl Hsq Hsd Hs Hm] Hd Hu. unfold summation_bound.
  destruct (Nat.leb_spec (size t) 1) as [One|Many].
  { destruct t as [x|l r]; [inversion Hy; simpl; rewrite Rminus_eq_0, Rabs_R0; lra|].
    simpl in One. generalize (size_positive l) (size_positive r). lia. }
  case Rle_bool_spec; intros Holds.
  { rewrite (exact_on_grid p q t y Hy Hq) by lra. rewrite Rminus_eq_0, Rabs_R0. lra. }
  assert (L : 0 <= largest).
  { destruct (leaves t) as [|x xs] eqn:E.
    - generalize (length_leaves t). rewrite E. simpl. generalize (size_positive t). lia.
    - apply Rle_trans with (1 := Rabs_pos x). apply Hl. now left. }
  assert (F : bounds_partial_sums (fast largest squares sides) (leaves t)) by now apply fast_bounds.
  assert (Sides : Rabs (total t) <= sides).
  { rewrite total_is_list_sum. apply Rle_trans with (1 := sum_of_sides _). exact Hsd. }
  destruct (Nat.eqb_spec (size t) 2) as [Two|_]; [now apply two_terms; [..|apply Rmin_glb]|].
  assert (B : Rabs (y - total t) <= lemma p q (size t) (Rmin s sides) (fast largest squares sides)).
  { apply lemma_bounds; auto.
    - now apply fast_nondecreasing with (leaves t).
    - intros k. now apply fast_nonnegative with (leaves t).
    - now apply Rmin_glb. }
  destruct declared as [h|]; [|exact B]. apply Rmin_glb; [exact B|].
  set (k := Nat.min (size t - 1) h).
  assert (K : INR k * unit_roundoff p <= INR (size t - 1) * unit_roundoff p).
  { apply Rmult_le_compat_r; [apply Rlt_le, unit_positive | apply le_INR; unfold k; lia]. }
  assert (H : (height t <= k)%nat) by (generalize (height_below_size t); unfold k; lia).
  apply Rle_trans with (1 := height_bound p q t y k Hy H ltac:(lra)).
  apply Rmult_le_compat_l; [|exact Hm].
  apply Rmult_le_pos; [apply Rmult_le_pos; [apply pos_INR | apply Rlt_le, unit_positive]|].
  apply Rlt_le, Rinv_0_lt_compat. lra.
Qed.

(** For floats with any order of additions, each rounded to nearest. *)
Theorem summation_bound_to_nearest p q emin tie t largest squares sides s m declared :
  (0 < p)%Z -> (emin <= q)%Z -> (forall x, In x (leaves t) -> is_float p emin x) ->
  known q t largest squares sides s m ->
  match declared with Some h => (height t <= h)%nat | None => True end ->
  INR (size t - 1) * unit_roundoff p < 1 ->
  Rabs (rounded p emin tie t - total t) <= summation_bound p q (size t) largest squares sides s m declared.
Proof. intros Hp Hq Hf Hk Hd Hu. apply summation_bound_holds; auto. apply rounded_evaluates; auto. Qed.
