/// A test phone number, as configured with its code.
public enum TestNumber {
  /// Returns the E.164 format of a number, as ``Account/phoneNumber(_:)`` does; nil if the text
  /// isn't a phone number.
  public static func normalized(_ text: String) -> String? {
    let number = Account.phoneNumber(text)
    do { try AccountRules.checkPhone(number) } catch { return nil }
    return number
  }
}

/// A region that text messages are sent to, as an ISO 3166-1 alpha-2 code.
public enum SMSRegion {
  /// Returns whether a region has phone numbers; case-insensitive.
  public static func isKnown(_ code: String) -> Bool {
    code.utf8.count == 2 && CallingCodes.all.contains(code.uppercased())
  }
}
