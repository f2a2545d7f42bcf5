// A golden pack holds a function in Rust: etalon pack header PACK softmax --language rust > tests.rs
// TESTS=tests.rs SOFTMAX=mine.rs rustc consumer.rs && ./consumer
mod tests { include!(env!("TESTS")); }
mod mine { include!(env!("SOFTMAX")); } // pub fn softmax(x: &[f32], outer: usize, n: usize, inner: usize) -> Vec<f32>

fn floats(data: &[u8]) -> Vec<f32> {
    data.chunks(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn holds(way: &tests::Way, y: &[f32]) -> bool {
    let (low, high) = (floats(way.lower), floats(way.upper));
    y.len() == low.len() && y.iter().enumerate().all(|(i, &x)| {
        let bits = way.admits[i];
        bits & 16 > 0 || bits & 1 > 0 && x.is_finite() && low[i] <= x && x <= high[i]
            || bits & 2 > 0 && x == f32::INFINITY || bits & 4 > 0 && x == f32::NEG_INFINITY || bits & 8 > 0 && x.is_nan()
    })
}

fn main() {
    let (mut asked, mut failed) = (0, 0);
    for test in tests::TESTS {
        let input = match test.inputs { [x] if x.dtype == "f32" && test.mode == "forward" && !test.rejected => x, _ => continue };
        let axis: usize = test.attributes[0].value.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
        let size = |extents: &[i64]| extents.iter().product::<i64>() as usize;
        let (outer, inner) = (size(&input.shape[..axis]), size(&input.shape[axis + 1..]));
        let y = mine::softmax(&floats(input.data), outer, input.shape[axis] as usize, inner);
        let right = test.results[0].ways.iter().any(|way| holds(way, &y));
        asked += 1;
        if !right {
            failed += 1;
            println!("{} fails", test.id);
        }
    }
    println!("{} tests, {} failed", asked, failed);
    std::process::exit((failed > 0 || asked == 0) as i32);
}
