extension Unicode.Scalar {
  /// Whether an email address can contain the character on each side of the `@`, without quotation
  /// marks (RFC 5322 section 3.2.3, RFC 6531 section 3.3).
  ///
  /// Nobody can see or type white space and control, format, and other invisible characters, and the
  /// special characters would end the address in a command or a header.
  public var isInEmailAddresses: Bool {
    switch self {
    case "<", ">", "(", ")", "[", "]", "\\", ",", ";", ":", "\"", "@": return false
    case "\u{21}"..."\u{7E}": return true
    case "\0"..."\u{9F}": return false
    default: break
    }
    switch properties.generalCategory {
    case .format, .control: return false
    default: return !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint
    }
  }
}
