#include "compiled/ir/tile_lines.hpp"

#include "compiled/ir/line_reader.hpp"

namespace etalon::compiled::loops {

Expr read_wanted(const TextLine& text, const KnownNames& known) {
  LineReader line(text, known);
  line.expect("only tiles where");
  Expr condition = line.condition();
  line.expect("holds somewhere");
  line.end();
  return condition;
}

FetchAhead read_ahead(const TextLine& text, const KnownNames& known) {
  LineReader line(text, known);
  FetchAhead piece;
  line.expect("each tile fetches its share of");
  piece.bytes = line.integer(0, largest_extent);
  line.expect("bytes from");
  piece.first = line.read();
  line.expect("on , block");
  piece.number = line.value(Kind::integer, "an integer");
  line.expect("of");
  piece.blocks = line.integer(1, largest_extent);
  line.end();
  return piece;
}

void read_sum(Contract& c, const TextLine& text, KnownNames& known) {
  LineReader line(text, known);
  c.target = line.target();
  line.expect("= sum over");
  do {
    c.depth.push_back(line.binder());
  } while (line.accept(","));
  for (const Binder& b : c.depth) known.enter(b);
  line.expect("of");
  c.left = line.read();
  line.expect("*");
  c.right = line.read();
  if (line.accept("where")) c.taps = line.condition();
  if (line.accept("unless")) {
    line.expect("zero");
    c.guard = line.read();
  }
  line.expect(", each added with one rounding");
  line.end();
  known.define(c.target, Kind::real);
}

}  // namespace etalon::compiled::loops
