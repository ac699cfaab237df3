/// A value as a database stores it.
public enum SQLValue: Sendable, Equatable {
  /// The absence of a value.
  case null
  /// A whole number of 64 bits.
  case integer(Int64)
  /// A floating-point number; SQLite stores NaN as NULL.
  case real(Double)
  /// Text in UTF-8, NUL characters included.
  case text(String)
  /// Bytes without a meaning to the database.
  case blob([UInt8])
}

/// A type whose values can be interpolated into ``SQL``.
///
/// An identifier or an enumeration of the caller conforms by naming the value that stands for it.
public protocol SQLBindable {
  /// The value that is bound.
  var sqlValue: SQLValue { get }
}

extension SQLValue: SQLBindable {
  /// The value itself.
  public var sqlValue: SQLValue { self }
}

extension Int: SQLBindable {
  /// The number as 64 bits.
  public var sqlValue: SQLValue { .integer(Int64(self)) }
}

extension Int64: SQLBindable {
  /// The number.
  public var sqlValue: SQLValue { .integer(self) }
}

extension Bool: SQLBindable {
  /// 1 when true, else 0.
  public var sqlValue: SQLValue { .integer(self ? 1 : 0) }
}

extension Double: SQLBindable {
  /// The number.
  public var sqlValue: SQLValue { .real(self) }
}

extension String: SQLBindable {
  /// The text.
  public var sqlValue: SQLValue { .text(self) }
}

extension [UInt8]: SQLBindable {
  /// The bytes.
  public var sqlValue: SQLValue { .blob(self) }
}

extension Optional: SQLBindable where Wrapped: SQLBindable {
  /// The wrapped value, or NULL.
  public var sqlValue: SQLValue { self?.sqlValue ?? .null }
}
