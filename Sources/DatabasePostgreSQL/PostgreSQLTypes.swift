import CPostgreSQL

/// The object IDs of the types that the driver converts, which are the same in every database; from
/// `pg_type.dat`.
enum PostgreSQLType {
  static let bool: Oid = 16
  static let bytea: Oid = 17
  static let char: Oid = 18
  static let name: Oid = 19
  static let int8: Oid = 20
  static let int2: Oid = 21
  static let int4: Oid = 23
  static let text: Oid = 25
  static let oid: Oid = 26
  static let json: Oid = 114
  static let float4: Oid = 700
  static let float8: Oid = 701
  static let unknown: Oid = 705
  static let bpchar: Oid = 1042
  static let varchar: Oid = 1043
  static let numeric: Oid = 1700

  static func isText(_ type: Oid) -> Bool {
    switch type {
    case text, varchar, bpchar, name, char, unknown, json: true
    default: false
    }
  }

  static func isKnown(_ type: Oid) -> Bool {
    switch type {
    case bool, int2, int4, int8, oid, float4, float8, numeric, bytea: true
    default: isText(type)
    }
  }
}

extension Span<UInt8> {
  /// Returns the big-endian integer of all bytes, of which there are at most 8.
  var bigEndianInteger: Int64 {
    guard let first = indices.first else { return 0 }
    var number: Int64 = self[first] & 0x80 == 0 ? 0 : -1
    for index in indices { number = number << 8 | Int64(self[index]) }
    return number
  }
}

/// A `numeric` in binary form: the sum of `digits[i] * 10000 ^ (weight - i)`.
struct PostgreSQLNumeric {
  private var digits: [Int64] = []
  private var weight = 0
  private var isNegative = false
  /// NaN or infinity, which have no digits.
  private var special: Double?

  /// Reads the binary form, as `numeric_send` writes it.
  init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= 8 else { return nil }
    func word(_ index: Int) -> Int64 {
      bytes.extracting(index * 2..<index * 2 + 2).bigEndianInteger
    }
    let count = Int(word(0))
    guard count >= 0, bytes.count >= 8 + 2 * count else { return nil }
    weight = Int(word(1))
    switch UInt16(truncatingIfNeeded: word(2)) {
    case 0: break
    case 0x4000: isNegative = true
    case 0xD000: special = .infinity
    case 0xF000: special = -.infinity
    default: special = .nan
    }
    digits = (0..<count).map { word(4 + $0) }
  }

  /// The number, if it's integral and has at most 64 bits.
  var integer: Int64? {
    guard special == nil, digits.indices.allSatisfy({ $0 <= weight || digits[$0] == 0 })
    else { return nil }
    // Negative, because that range is larger.
    var number: Int64 = 0
    for index in 0..<max(weight + 1, 0) {
      let digit = index < digits.count ? digits[index] : 0
      let (product, hasLost) = number.multipliedReportingOverflow(by: 10_000)
      let (sum, hasLostToo) = product.subtractingReportingOverflow(digit)
      guard !hasLost, !hasLostToo else { return nil }
      number = sum
    }
    if isNegative { return number }
    return number == .min ? nil : -number
  }

  /// The nearest floating-point number.
  var real: Double {
    if let special { return special }
    var text = isNegative ? "-0" : "0"
    for digit in digits { text += String(10_000 + digit).dropFirst() }
    text += "e\((weight + 1 - digits.count) * 4)"
    return Double(text) ?? .nan
  }
}
