import Identity
import JSON

/// A user as returned by lookup, batchGet, and query, and the parts that other responses share.
enum UserMessage {
  static let redacted: JSON = "UkVEQUNURUQ="

  /// Writes the complete user.
  ///
  /// `tenant` must be set for a tenant's user and only then, or the web SDK assigns the session to
  /// another tenant.
  static func write(_ account: Account, tenant: ID<Tenant>?) -> JSON {
    var user: JSON.Object = ["localId": .string(account.id.text)]
    append("email", account.email, to: &user)
    append("emailVerified", emailVerified(account), to: &user)
    appendProfile(account, to: &user)
    append("phoneNumber", account.phoneNumber, to: &user)
    if account.hasPassword { user.append("passwordHash", redacted) }
    if let updated = account.passwordUpdatedAt {
      user.append("passwordUpdatedAt", .number(JSON.Number(updated.milliseconds)))
    }
    let providers = providerUserInfo(account)
    if !providers.isEmpty { user.append("providerUserInfo", .array(providers)) }
    if account.showsValidSince {
      user.append("validSince", .string(String(account.validSince)))
    }
    if account.disabled || account.givenFields.contains(.disabled) {
      user.append("disabled", .bool(account.disabled))
    }
    user.append("createdAt", .string(String(account.createdAt.milliseconds)))
    append("lastLoginAt", account.lastLoginAt.map { String($0.milliseconds) }, to: &user)
    append("lastRefreshAt", account.lastRefreshAt?.rfc3339Milliseconds, to: &user)
    append("customAttributes", account.customAttributes, to: &user)
    if account.signsInByLink { user.append("emailLinkSignin", true) }
    append("initialEmail", account.initialEmail, to: &user)
    if account.isCustomAuth { user.append("customAuth", true) }
    if !account.factors.isEmpty { user.append("mfaInfo", mfaInfo(account.factors, masked: false)) }
    append("tenantId", tenant?.text, to: &user)
    return .object(user)
  }

  /// Writes enrolled factors, each with the member by which SDKs detect its kind.
  ///
  /// Before the second factor, only the last four digits of a number are shown.
  static func mfaInfo(_ factors: [Factor], masked: Bool = true) -> JSON {
    .array(
      factors.map { factor in
        var entry: JSON.Object = ["mfaEnrollmentId": .string(factor.id.text)]
        append("displayName", factor.displayName, to: &entry)
        entry.append("enrolledAt", .string(factor.enrolledAt.rfc3339))
        switch factor.kind {
        case .totp: entry.append("totpInfo", [:])
        case .phone:
          let number = factor.phoneNumber ?? ""
          entry.append("phoneInfo", .string(masked ? Self.masked(number) : number))
        }
        return .object(entry)
      })
  }

  /// Returns a phone number with all but the last four digits masked, such as `+*******0101`.
  static func masked(_ number: String) -> String {
    let hidden = number.dropLast(4).map { $0.isNumber ? "*" : $0 }
    return String(hidden) + number.suffix(4)
  }

  /// Writes the providers linked to a user: identities by provider, the phone, and the password.
  static func providerUserInfo(_ account: Account) -> [JSON] {
    var providers: [JSON] = []
    for link in account.providers {
      var provider: JSON.Object = ["providerId": .string(link.provider)]
      append("displayName", link.displayName, to: &provider)
      append("photoUrl", link.photoURL, to: &provider)
      // Like production, this contains the raw ID and not the URL that a sign-in returns.
      provider.append("federatedId", .string(link.rawID))
      append("email", link.email, to: &provider)
      provider.append("rawId", .string(link.rawID))
      providers.append(.object(provider))
    }
    if let phone = account.phoneNumber {
      providers.append([
        "providerId": "phone", "rawId": .string(phone), "phoneNumber": .string(phone),
      ])
    }
    if let email = account.email, account.hasPassword || account.signsInByLink {
      var provider: JSON.Object = ["providerId": "password"]
      appendProfile(account, to: &provider)
      for name in ["federatedId", "email", "rawId"] { provider.append(name, .string(email)) }
      providers.append(.object(provider))
    }
    return providers
  }

  static func emailVerified(_ account: Account) -> Bool? {
    if account.email != nil { return account.emailVerified }
    // An address that isn't there isn't verified.
    return account.givenFields.contains(.emailVerified) ? false : nil
  }

  /// Appends a text unless it's absent or empty, because proto3 omits empty texts.
  static func append(_ name: String, _ text: String?, to object: inout JSON.Object) {
    if let text, !text.isEmpty { object.append(name, .string(text)) }
  }

  /// Appends the name and photo of a user, even if they were explicitly set to empty.
  static func appendProfile(_ account: Account, to object: inout JSON.Object) {
    let given = account.givenFields
    if let name = account.displayName ?? (given.contains(.emptyName) ? "" : nil) {
      object.append("displayName", .string(name))
    }
    if let photo = account.photoURL ?? (given.contains(.emptyPhoto) ? "" : nil) {
      object.append("photoUrl", .string(photo))
    }
  }

  static func append(_ name: String, _ flag: Bool?, to object: inout JSON.Object) {
    if let flag { object.append(name, .bool(flag)) }
  }
}
