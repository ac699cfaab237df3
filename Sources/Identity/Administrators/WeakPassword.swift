public enum WeakPassword: Sendable, Equatable {
  /// It has fewer characters than `fewest`.
  case tooShort(fewest: Int)
  /// It has more bytes than `most`.
  case tooLong(most: Int)
  case isEmail
}
