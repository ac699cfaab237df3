import Identity
import JSON
import Text

extension Methods {
  /// Reads how `mfa` in an administrator's update changes a user's factors.
  ///
  /// Without enrollments, all factors are removed. A list replaces the phones only: TOTP factors
  /// are kept whether or not the list names them, because the Node SDK can't send TOTP entries, and
  /// a list of phones from it must not weaken an account. A new TOTP factor can't be added this
  /// way, because the user needs its secret.
  func factors(_ message: RequestMessage) throws(WireError) -> FactorsChange {
    guard let mfa = try mfaMember(message) else { return .keep }
    // A misspelled name would be read as no enrollments and remove all factors.
    try mfa.refuseUnknown(except: ["enrollments"])
    let enrollments = try mfa.messages("enrollments")
    guard enrollments.count <= Accounts.mostEntries else {
      throw WireError(AccountError.tooManyFactors)
    }
    var entries: [FactorEntry] = []
    for enrollment in enrollments {
      let id = try enrollment.given("mfaEnrollmentId")
      let isApp = try enrollment.has("totpInfo")
      let number = try enrollment.text("phoneInfo").map(Account.phoneNumber)
      guard id != nil || isApp || number != nil else {
        throw WireError("INVALID_MFA_PHONE_NUMBER : Invalid format.")
      }
      entries.append(
        FactorEntry(
          id: id, displayName: try enrollment.text("displayName"), phoneNumber: number,
          enrolledAt: try enrollment.timestamp("enrolledAt")))
    }
    return entries.isEmpty ? .clear : .replace(entries)
  }

  /// Returns the member `mfa`.
  ///
  /// Unlike for other members, `null` clears it, as `{}` does.
  private func mfaMember(_ message: RequestMessage) throws(WireError) -> RequestMessage? {
    if let mfa = try message.message("mfa") { return mfa }
    return message.object.contains { $0.name == "mfa" } ? RequestMessage(path: "mfa") : nil
  }
}
