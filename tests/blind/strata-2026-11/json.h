// JSON, as much of it as Protocol 1 needs, and base64.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

struct Json {
  enum Kind { NUL, FALSE_, TRUE_, INT, REAL, TEXT, LIST, OBJECT } kind = NUL;
  int64_t i = 0;
  double r = 0;
  std::string s;
  std::vector<Json> l;
  std::map<std::string, Json> o;
  bool null() const { return kind == NUL; }
  const Json& operator[](const std::string& k) const { static const Json none; auto f = o.find(k); return f == o.end() ? none : f->second; }
  bool truth() const { return kind == TRUE_; }
};
class JsonReader {
  const char *p, *e;
  void space() { while (p < e && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) ++p; }
  [[noreturn]] void bad(const char* what) { throw std::string("JSON: ") + what; }
  void utf8(std::string& s, unsigned c) {
    if (c < 0x80) s += (char)c;
    else if (c < 0x800) { s += (char)(0xC0 | c >> 6); s += (char)(0x80 | (c & 63)); }
    else if (c < 0x10000) { s += (char)(0xE0 | c >> 12); s += (char)(0x80 | (c >> 6 & 63)); s += (char)(0x80 | (c & 63)); }
    else { s += (char)(0xF0 | c >> 18); s += (char)(0x80 | (c >> 12 & 63)); s += (char)(0x80 | (c >> 6 & 63)); s += (char)(0x80 | (c & 63)); }
  }
  std::string text() {
    std::string s;
    for (++p; p < e && *p != '"';) {
      if (*p != '\\') { const char* q = p; while (q < e && *q != '"' && *q != '\\') ++q; s.append(p, q); p = q; continue; }
      if (++p >= e) bad("end");
      switch (*p++) {
        case 'n': s += '\n'; break; case 't': s += '\t'; break; case 'r': s += '\r'; break; case 'b': s += '\b'; break; case 'f': s += '\f'; break;
        case 'u': {
          if (e - p < 4) bad("end");
          unsigned c = (unsigned)std::strtoul(std::string(p, p + 4).c_str(), nullptr, 16);
          p += 4;
          if (c >= 0xD800 && c < 0xDC00 && e - p >= 6 && p[0] == '\\' && p[1] == 'u') { c = 0x10000 + ((c - 0xD800) << 10) + ((unsigned)std::strtoul(std::string(p + 2, p + 6).c_str(), nullptr, 16) - 0xDC00); p += 6; }
          utf8(s, c);
          break;
        }
        default: s += p[-1];
      }
    }
    if (p >= e) bad("end");
    ++p;
    return s;
  }
 public:
  JsonReader(const std::string& s) : p(s.data()), e(s.data() + s.size()) {}
  Json value() {
    Json j;
    space();
    if (p >= e) bad("end");
    if (*p == '{') {
      j.kind = Json::OBJECT;
      for (++p, space(); p < e && *p != '}';) {
        if (*p != '"') bad("name");
        std::string k = text();
        space();
        if (p >= e || *p++ != ':') bad("colon");
        j.o[k] = value();
        space();
        if (p < e && *p == ',') { ++p; space(); }
        else if (p >= e || *p != '}') bad("comma");
      }
      if (p >= e) bad("end");
      ++p;
    } else if (*p == '[') {
      j.kind = Json::LIST;
      for (++p, space(); p < e && *p != ']';) {
        j.l.push_back(value());
        space();
        if (p < e && *p == ',') { ++p; space(); }
        else if (p >= e || *p != ']') bad("comma");
      }
      if (p >= e) bad("end");
      ++p;
    } else if (*p == '"') { j.kind = Json::TEXT; j.s = text(); }
    else if (*p == 't') { j.kind = Json::TRUE_; p += 4; }
    else if (*p == 'f') { j.kind = Json::FALSE_; p += 5; }
    else if (*p == 'n') p += 4;
    else {
      const char* q = p;
      bool whole = true;
      while (q < e && std::string("+-0123456789.eE").find(*q) != std::string::npos) { whole = whole && *q != '.' && *q != 'e' && *q != 'E'; ++q; }
      if (q == p) bad("value");
      const std::string n(p, q);
      j.kind = whole ? Json::INT : Json::REAL;
      j.r = std::strtod(n.c_str(), nullptr);
      j.i = whole ? std::strtoll(n.c_str(), nullptr, 10) : (int64_t)0;
      p = q;
    }
    return j;
  }
};
inline std::string quoted(const std::string& s) {
  std::string r = "\"";
  for (unsigned char c : s) {
    if (c == '"' || c == '\\') { r += '\\'; r += (char)c; }
    else if (c < 32) { char b[8]; std::snprintf(b, sizeof b, "\\u%04x", c); r += b; }
    else r += (char)c;
  }
  return r + "\"";
}
inline std::string base64(const unsigned char* d, size_t n) {
  static const char* a = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string r;
  r.reserve((n + 2) / 3 * 4);
  for (size_t k = 0; k < n; k += 3) {
    const unsigned v = d[k] << 16 | (k + 1 < n ? d[k + 1] << 8 : 0) | (k + 2 < n ? d[k + 2] : 0);
    r += a[v >> 18];
    r += a[v >> 12 & 63];
    r += k + 1 < n ? a[v >> 6 & 63] : '=';
    r += k + 2 < n ? a[v & 63] : '=';
  }
  return r;
}
inline std::string unbase64(const std::string& s) {
  std::string r;
  unsigned v = 0;
  int bits = 0;
  for (unsigned char c : s) {
    const int d = c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : c >= '0' && c <= '9' ? c - '0' + 52 : c == '+' ? 62 : c == '/' ? 63 : -1;
    if (d < 0) continue;
    v = v << 6 | (unsigned)d;
    bits += 6;
    if (bits >= 8) { bits -= 8; r += (char)(v >> bits & 255); }
  }
  return r;
}
