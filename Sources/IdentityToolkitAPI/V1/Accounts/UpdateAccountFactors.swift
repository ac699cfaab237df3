import Identity
import JSON

extension Methods {
  /// What `mfa` in an administrator's update does to the factors of a user.
  ///
  /// Without enrolments all factors go. A list keeps a TOTP factor that it names, and one that it
  /// does not name as well: the Node SDK cannot send TOTP entries, so whatever list of phones it
  /// sends must not weaken an account. A new TOTP factor cannot be made this way, since its secret
  /// must be in the user's hands.
  func factors(
    _ message: Message, of id: ID<Account>, in scope: Scope
  ) async throws(WireError) -> FactorsChange {
    guard let mfa = try mfaMember(message) else { return .keep }
    // A name that is misspelt would read as no enrolments, and take all factors away.
    try mfa.refuseUnknown(except: ["enrollments"])
    let enrolments = try mfa.messages("enrollments")
    guard !enrolments.isEmpty else { return .clear }
    guard enrolments.count <= 5 else {
      throw WireError(
        "SECOND_FACTOR_LIMIT_EXCEEDED : Too many second factors enrolled for this account.")
    }
    let account: Account?
    do throws(AccountError) {
      account = try await identity.accounts.find(scope, id)
    } catch {
      throw WireError(error)
    }
    guard let account else { throw WireError(AccountError.notFound) }
    let known = account.factors.map(\.id.text)
    var kept: [(id: String, displayName: String?)] = []
    for enrolment in enrolments {
      let id = try enrolment.text("mfaEnrollmentId") ?? ""
      guard !known.contains(id) else {
        guard !kept.contains(where: { $0.id == id }) else {
          throw WireError("DUPLICATE_MFA_ENROLLMENT_ID : Enrollment id already exists.")
        }
        kept.append((id, try enrolment.text("displayName")))
        continue
      }
      guard try !enrolment.has("totpInfo") else {
        throw WireError("UNSUPPORTED_SECOND_FACTOR : attempting to add a new TOTP enrollment")
      }
      guard try enrolment.has("phoneInfo") else {
        throw WireError("INVALID_MFA_PHONE_NUMBER : Invalid format.")
      }
      throw .smsNotEnabled
    }
    return .rename(kept)
  }

  /// The member `mfa`; `null` clears as `{}` does, unlike other members, which it leaves as they
  /// are.
  private func mfaMember(_ message: Message) throws(WireError) -> Message? {
    if let mfa = try message.message("mfa") { return mfa }
    return message.object.contains { $0.name == "mfa" } ? Message(path: "mfa") : nil
  }
}
