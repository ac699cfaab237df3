/// A value as stored by a database.
public enum SQLValue: Sendable, Equatable {
  /// No value.
  case null
  /// A 64-bit integer.
  case integer(Int64)
  /// A floating-point number; SQLite stores NaN as NULL.
  case real(Double)
  /// UTF-8 text, including NUL characters.
  case text(String)
  /// Uninterpreted bytes.
  case blob([UInt8])
}

/// A type whose values can be interpolated into ``SQL``.
///
/// An enumeration or option set conforms without code, by its raw value. Other types return the
/// value to bind.
public protocol SQLBindable {
  /// The value to bind.
  var sqlValue: SQLValue { get }
}

/// A type that columns store.
public typealias SQLConvertible = SQLBindable & SQLReadable

extension SQLBindable where Self: RawRepresentable, RawValue: SQLBindable {
  /// The raw value.
  @inlinable
  public var sqlValue: SQLValue { rawValue.sqlValue }
}

extension SQLValue: SQLBindable {
  /// The value itself.
  @inlinable
  public var sqlValue: SQLValue { self }
}

extension Int: SQLBindable {
  /// The number as a 64-bit integer.
  @inlinable
  public var sqlValue: SQLValue { .integer(Int64(self)) }
}

extension Int64: SQLBindable {
  /// The number.
  @inlinable
  public var sqlValue: SQLValue { .integer(self) }
}

extension Bool: SQLBindable {
  /// 1 for true, 0 for false.
  @inlinable
  public var sqlValue: SQLValue { .integer(self ? 1 : 0) }
}

extension Double: SQLBindable {
  /// The number.
  @inlinable
  public var sqlValue: SQLValue { .real(self) }
}

extension String: SQLBindable {
  /// The text.
  @inlinable
  public var sqlValue: SQLValue { .text(self) }
}

extension [UInt8]: SQLBindable {
  /// The bytes.
  @inlinable
  public var sqlValue: SQLValue { .blob(self) }
}

extension Optional: SQLBindable where Wrapped: SQLBindable {
  /// The wrapped value, or NULL.
  @inlinable
  public var sqlValue: SQLValue { self?.sqlValue ?? .null }
}
