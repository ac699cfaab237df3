import JSON

/// What Countersign reads of a user: no password hashes, claims, or times of tokens.
///
/// Texts are as long, and numbers as large, as the remote has them.
public struct RemoteUser: Sendable {
  /// Empty if the remote gives none.
  package let id: String
  package let email: String?
  package let isEmailVerified: Bool
  package let phoneNumber: String?
  package let displayName: String?
  package let photoURL: String?
  package let isDisabled: Bool
  package let signsInByLink: Bool
  package let isCustomAuth: Bool
  /// In milliseconds since 1970, as the next two.
  package let createdAt: Int64?
  package let lastLoginAt: Int64?
  package let passwordUpdatedAt: Int64?
  /// In seconds since 1970.
  package let validSince: Int64?
  package let providers: [RemoteProvider]
  /// In order of enrollment.
  package let factors: [RemoteFactor]

  static let fields =
    "localId,email,emailVerified,phoneNumber,displayName,photoUrl,disabled,emailLinkSignin,"
    + "customAuth,createdAt,lastLoginAt,passwordUpdatedAt,validSince,providerUserInfo,mfaInfo"

  init(_ user: JSON) {
    id = user.filled("localId") ?? ""
    email = user.filled("email")
    isEmailVerified = user.flag("emailVerified")
    phoneNumber = user.filled("phoneNumber")
    displayName = user.filled("displayName")
    photoURL = user.filled("photoUrl")
    isDisabled = user.flag("disabled")
    signsInByLink = user.flag("emailLinkSignin")
    isCustomAuth = user.flag("customAuth")
    createdAt = user["createdAt"]?.integer
    lastLoginAt = user["lastLoginAt"]?.integer
    passwordUpdatedAt = user["passwordUpdatedAt"]?.integer
    validSince = user["validSince"]?.integer
    providers = user["providerUserInfo"]?.arrayValue?.map { RemoteProvider($0) } ?? []
    factors = user["mfaInfo"]?.arrayValue?.map { RemoteFactor($0) } ?? []
  }
}

/// A sign-in method of a user.
public struct RemoteProvider: Sendable {
  /// Such as `google.com`, `password`, or `phone`; empty if there's none.
  package let id: String
  package let rawID: String?
  package let email: String?
  package let displayName: String?
  package let photoURL: String?

  init(_ provider: JSON) {
    id = provider.filled("providerId") ?? ""
    rawID = provider.filled("rawId")
    email = provider.filled("email")
    displayName = provider.filled("displayName")
    photoURL = provider.filled("photoUrl")
  }
}

/// A second factor of a user.
public struct RemoteFactor: Sendable {
  package enum Kind: Sendable, Equatable {
    case totp
    case phone(String)
    /// One that Countersign doesn't know.
    case other
  }

  package let id: String
  package let displayName: String?
  /// As the remote has it (RFC 3339), with up to nine digits of a second.
  package let enrolledAt: String?
  package let kind: Kind

  init(_ factor: JSON) {
    id = factor.filled("mfaEnrollmentId") ?? ""
    displayName = factor.filled("displayName")
    enrolledAt = factor.filled("enrolledAt")
    kind =
      factor["totpInfo"]?.objectValue != nil
      ? .totp : factor.filled("phoneInfo").map(Kind.phone) ?? .other
  }
}
