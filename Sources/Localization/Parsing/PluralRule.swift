/// The rule of a `Plural-Forms` header, which chooses the form for a number.
final class PluralRule: Sendable {
  /// The number of forms.
  let count: Int
  private let expression: PluralExpression

  /// English: 1, and any other number.
  static let english = PluralRule(
    count: 2,
    .conditional(
      .binary("==", .number, .constant(1)), .constant(0), .constant(1)))

  private init(count: Int, _ expression: PluralExpression) {
    self.count = count
    self.expression = expression
  }

  /// Parses a header such as `nplurals=2; plural=(n != 1);`.
  init(header: String) throws(CatalogError.Problem) {
    let match = header.wholeMatch(of: /\s*nplurals\s*=\s*([0-9]+)\s*;\s*plural\s*=\s*([^;]+);?\s*/)
    guard let match, let count = Int(match.1), (1...6).contains(count) else {
      throw .malformedPlural(header)
    }
    self.count = count
    expression = try PluralExpression(String(match.2))
    // An index outside the forms would otherwise show only with certain numbers.
    for number in 0...1_000 where !(0..<count).contains(expression.value(for: number)) {
      throw .malformedPlural(header)
    }
  }

  /// The index of the form for a number.
  func form(for number: Int) -> Int {
    let index = expression.value(for: Int(clamping: number.magnitude))
    return (0..<count).contains(index) ? index : 0
  }
}

/// A C expression over `n`, as gettext defines it.
indirect enum PluralExpression: Sendable {
  case number
  case constant(Int)
  case not(PluralExpression)
  case binary(String, PluralExpression, PluralExpression)
  case conditional(PluralExpression, PluralExpression, PluralExpression)

  init(_ text: String) throws(CatalogError.Problem) {
    var parser = PluralParser(text)
    self = try parser.expression()
    guard parser.isAtEnd else { throw .malformedPlural(text) }
  }

  func value(for n: Int) -> Int {
    switch self {
    case .number: n
    case .constant(let value): value
    case .not(let operand): operand.value(for: n) == 0 ? 1 : 0
    case .conditional(let test, let yes, let no):
      test.value(for: n) != 0 ? yes.value(for: n) : no.value(for: n)
    case .binary("&&", let left, let right):
      left.value(for: n) != 0 && right.value(for: n) != 0 ? 1 : 0
    case .binary("||", let left, let right):
      left.value(for: n) != 0 || right.value(for: n) != 0 ? 1 : 0
    case .binary(let sign, let left, let right):
      Self.result(sign, left.value(for: n), right.value(for: n))
    }
  }

  private static func result(_ sign: String, _ left: Int, _ right: Int) -> Int {
    switch sign {
    case "==": left == right ? 1 : 0
    case "!=": left != right ? 1 : 0
    case "<": left < right ? 1 : 0
    case ">": left > right ? 1 : 0
    case "<=": left <= right ? 1 : 0
    case ">=": left >= right ? 1 : 0
    case "+": left &+ right
    case "-": left &- right
    case "*": left &* right
    case "/": right == 0 ? 0 : left / right
    default: right == 0 ? 0 : left % right
    }
  }
}

/// Parses a C expression by precedence.
private struct PluralParser {
  private static let levels = [
    ["||"], ["&&"], ["==", "!="], ["<=", ">=", "<", ">"], ["+", "-"], ["*", "/", "%"],
  ]
  private let source: String
  private var rest: Substring

  init(_ text: String) {
    source = text
    rest = text.filter { !$0.isWhitespace }[...]
  }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func expression() throws(CatalogError.Problem) -> PluralExpression {
    let test = try operation(0)
    guard take("?") else { return test }
    let yes = try expression()
    guard take(":") else { throw .malformedPlural(source) }
    return .conditional(test, yes, try expression())
  }

  private mutating func operation(_ level: Int) throws(CatalogError.Problem) -> PluralExpression {
    guard level < Self.levels.count else { return try operand() }
    var left = try operation(level + 1)
    while let sign = Self.levels[level].first(where: { take($0) }) {
      left = .binary(sign, left, try operation(level + 1))
    }
    return left
  }

  private mutating func operand() throws(CatalogError.Problem) -> PluralExpression {
    if take("!") { return .not(try operand()) }
    if take("n") { return .number }
    if take("(") {
      let inner = try expression()
      guard take(")") else { throw .malformedPlural(source) }
      return inner
    }
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    guard let value = Int(digits) else { throw .malformedPlural(source) }
    rest = rest[digits.endIndex...]
    return .constant(value)
  }

  private mutating func take(_ token: String) -> Bool {
    guard rest.hasPrefix(token) else { return false }
    rest.removeFirst(token.count)
    return true
  }
}
