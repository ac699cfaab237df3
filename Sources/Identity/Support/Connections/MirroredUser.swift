import Crypto
import IdentityToolkitClient
import Text

/// A user as the mirror keeps what the remote has, without the checks of imports.
struct MirroredUser: Sendable {
  let user: ImportedUser
  let factors: [NewFactor]
  /// A digest of everything here; another version of the program may have another one.
  let digest: Int64

  var id: String { user.localID }
  var prepared: PreparedUser { PreparedUser(user, email: user.email, factors: factors) }

  /// The length in bytes up to which texts are kept that are longer than those of hosted users can be.
  private static let longestText = 1_024
  /// When an account was created if the remote doesn't say it.
  private static let unknown = Instant(seconds: 0)
  /// Changes whenever the mirror keeps more or less.
  private static let version: String? = "1"

  init(_ remote: RemoteUser) {
    var user = ImportedUser()
    user.localID = remote.id
    user.email = Self.kept(remote.email).map { AccountRules.folded(email: $0) }
    user.emailVerified = remote.isEmailVerified
    user.displayName = Self.kept(remote.displayName)
    user.photoURL = Self.kept(remote.photoURL, longest: ProviderLink.longestField)
    user.phoneNumber = Self.kept(remote.phoneNumber)
    (user.disabled, user.isCustomAuth) = (remote.isDisabled, remote.isCustomAuth)
    user.signsInByLink = remote.signsInByLink
    let createdAt = remote.createdAt.map { Instant(milliseconds: $0) } ?? Self.unknown
    user.createdAt = createdAt
    user.validSince = remote.validSince.map { Instant(seconds: $0).seconds } ?? createdAt.seconds
    user.lastLoginAt = remote.lastLoginAt.map { Instant(milliseconds: $0) }
    user.providers = Self.providers(of: remote)
    factors = Self.factors(of: remote, createdAt: createdAt)
    self.user = user
    digest = Self.digest(user, factors)
  }

  /// Returns why a user can't be stored; nil if nothing prevents it.
  static func fault(of id: String) -> MirrorFault? {
    if id.isEmpty { return .missing }
    if id.utf8.count > Account.longestID { return .long }
    return id.utf8.contains(0) ? .nul : nil
  }

  /// Returns a text without NUL, which PostgreSQL doesn't store, and at most as long as one is kept.
  static func kept(_ text: String?, longest: Int = longestText) -> String? {
    guard var text else { return nil }
    if text.utf8.contains(0) {
      let scalars = text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }
      text = String(String.UnicodeScalarView(scalars))
    }
    guard text.utf8.count > longest else { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: longestText)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return String(text.unicodeScalars[..<end])
  }

  /// The sign-in methods, sorted as they're read; of two with one name, the last one.
  private static func providers(of remote: RemoteUser) -> [ProviderLink] {
    var links: [UntrustedText: ProviderLink] = [:]
    for provider in remote.providers {
      guard let name = kept(provider.id), !name.isEmpty else { continue }
      links[UntrustedText(name)] = ProviderLink(
        provider: name, rawID: kept(provider.rawID ?? provider.email ?? remote.phoneNumber) ?? "",
        email: kept(provider.email, longest: ProviderLink.longestField),
        displayName: kept(provider.displayName, longest: ProviderLink.longestField),
        photoURL: kept(provider.photoURL, longest: ProviderLink.longestField))
    }
    return links.values.sorted { $0.provider.utf8.lexicographicallyPrecedes($1.provider.utf8) }
  }

  /// The factors whose kind is known; an ID that's repeated is that of the first one.
  private static func factors(of remote: RemoteUser, createdAt: Instant) -> [NewFactor] {
    var ids: Set<UntrustedText> = []
    return remote.factors.compactMap { factor in
      guard factor.kind != .other, let id = kept(factor.id), !id.isEmpty,
        ids.insert(UntrustedText(id)).inserted
      else { return nil }
      let phone = if case .phone(let number) = factor.kind { kept(number) } else { String?.none }
      return NewFactor(
        id: ID(id), kind: phone == nil ? .totp : .phone,
        displayName: Factor.storedName(kept(factor.displayName)),
        enrolledAt: factor.enrolledAt.flatMap { Instant(rfc3339: $0) } ?? createdAt,
        phoneNumber: phone)
    }
  }

  private static func digest(_ user: ImportedUser, _ factors: [NewFactor]) -> Int64 {
    let flags = [user.emailVerified, user.disabled, user.isCustomAuth, user.signsInByLink]
    let times = [user.createdAt?.microseconds, user.validSince, user.lastLoginAt?.microseconds]
    var texts = [
      version, user.email, user.displayName, user.photoURL, user.phoneNumber,
      "\(flags) \(times) \(user.providers.count)",
    ]
    for link in user.providers {
      texts += [link.provider, link.rawID, link.email, link.displayName, link.photoURL]
    }
    for factor in factors {
      texts += [
        factor.id.text, factor.displayName, factor.phoneNumber, factor.enrolledAt.rfc3339,
      ]
    }
    // No text has NUL, and a sign tells an empty one from none.
    let all = texts.map { $0.map { "=" + $0 } ?? "" }.joined(separator: "\0")
    let start = HashFunction.sha256.digest(Array(all.utf8)).prefix(8)
    return start.reduce(0) { $0 << 8 | Int64($1) }
  }

  /// Returns whether the stored account of the UID was another user's: it was created at another time.
  func isOther(thanCreatedAt time: Instant) -> Bool {
    user.createdAt != time && ![user.createdAt, time].contains(Self.unknown)
  }
}
