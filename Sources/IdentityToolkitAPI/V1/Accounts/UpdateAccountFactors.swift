import Identity
import JSON

extension Methods {
  /// What `mfa` in an administrator's update does to the factors of a user.
  ///
  /// Without enrollments all factors go. A list is that of the phones; it keeps a TOTP factor that it
  /// names, and one that it does not name as well: the Node SDK cannot send TOTP entries, so whatever list of phones it
  /// sends must not weaken an account. A new TOTP factor cannot be made this way, since its secret
  /// must be in the user's hands.
  func factors(_ message: Message) throws(WireError) -> FactorsChange {
    guard let mfa = try mfaMember(message) else { return .keep }
    // A name that is misspelt would read as no enrollments, and take all factors away.
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

  /// The member `mfa`; `null` clears as `{}` does, unlike other members, which it leaves as they
  /// are.
  private func mfaMember(_ message: Message) throws(WireError) -> Message? {
    if let mfa = try message.message("mfa") { return mfa }
    return message.object.contains { $0.name == "mfa" } ? Message(path: "mfa") : nil
  }
}
