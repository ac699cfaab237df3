import Crypto
import Identity
import JSON
import OTP
import Text

/// Parses the users of an import, from a message or a file, which differ in one name.
struct UserRow: Sendable {
  let algorithm: PasswordAlgorithm
  let profile: Profile

  /// Parses a row.
  ///
  /// A value of the wrong type is an error of the whole message; a value that the user can't have
  /// is a fault of the row.
  func read(_ row: RequestMessage) throws(WireError) -> ImportRow {
    var user = ImportedUser()
    user.localID = try row.text("localId") ?? ""
    user.email = try row.given("email")
    user.emailVerified = try row.flag("emailVerified") ?? false
    user.displayName = try row.given("displayName")
    user.photoURL = try row.given("photoUrl")
    user.phoneNumber = try row.given("phoneNumber")
    user.disabled = try row.flag("disabled") ?? false
    user.isCustomAuth = try row.flag("customAuth") ?? false
    user.signsInByLink = try row.flag("emailLinkSignin") ?? false
    user.tenant = try row.given("tenantId").map { ID($0) }
    user.validSince = try row.int64("validSince").flatMap { $0 == 0 ? nil : $0 }
    user.createdAt = try row.moment("createdAt")
    user.lastLoginAt = try row.moment("lastLoginAt")
    if user.lastLoginAt == nil { user.lastLoginAt = try row.moment("lastSignedInAt") }
    user.passwordUpdatedAt = try row.moment("passwordUpdatedAt")
    do throws(ImportFault) {
      user.password = try password(
        hash: try Self.given("passwordHash", row), salt: try Self.given("salt", row),
        plain: try Self.given("rawPassword", row))
      if let claims = try Self.given("customAttributes", row) {
        try Self.check(claims: claims)
        user.customAttributes = claims
      }
    } catch {
      return .failure(error)
    }
    for provider in try row.messages("providerUserInfo") {
      switch try Self.provider(provider) {
      case .success(let link?): user.providers.append(link)
      case .success(nil): break
      case .failure(let fault): return .failure(fault)
      }
    }
    for factor in try row.messages("mfaInfo") {
      switch try Self.factor(factor) {
      case .success(let read): user.factors.append(read)
      case .failure(let fault): return .failure(fault)
      }
    }
    return .success(user)
  }

  func password(
    hash: String?, salt: String?, plain: String?
  ) throws(ImportFault) -> ImportedPassword? {
    guard let hash else { return plain.map { .plain(Secret($0)) } }
    if Self.isEmulatorText(hash) { return try emulator(hash) }
    guard let bytes = Self.decode(hash) else { throw .hashNotBase64 }
    let decoded = String(decoding: bytes, as: UTF8.self)
    if Self.isEmulatorText(decoded) { return try emulator(decoded) }
    guard let salt = Self.decode(salt ?? "") else { throw .hashNotBase64 }
    do throws(ImportedHashError) {
      return .hash(try PasswordHash(bytes, salt: salt, by: algorithm))
    } catch {
      throw .hash(error)
    }
  }

  /// Decodes base64, which some programs break into lines.
  private static func decode(_ text: String) -> [UInt8]? {
    let breaks: Set = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
    return Base64URL.decode(
      String(decoding: text.utf8.filter { !breaks.contains($0) }, as: UTF8.self))
  }

  private static func isEmulatorText(_ text: String) -> Bool { text.hasPrefix("fakeHash:") }

  private func emulator(_ text: String) throws(ImportFault) -> ImportedPassword {
    guard profile == .emulator else { throw .emulatorHash }
    return .emulatorText(text)
  }

  /// Returns a text of a row, where a wrong type is a fault of the row.
  private static func given(_ name: String, _ row: RequestMessage) throws(ImportFault) -> String? {
    do throws(WireError) { return try row.given(name) } catch { throw .unreadable(error.message) }
  }

  static func check(claims: String) throws(ImportFault) {
    do throws(WireError) { _ = try CustomClaims.change(claims) } catch {
      if error.message.hasPrefix("CLAIMS_TOO_LARGE") { throw .claimsTooLarge }
      if error.message.hasPrefix("FORBIDDEN_CLAIM") { throw .forbiddenClaim }
      throw .invalidClaims
    }
  }

  /// Parses an identity; nil for this server's own sign-in methods, which other members specify.
  private static func provider(
    _ message: RequestMessage
  ) throws(WireError) -> Result<ProviderLink?, ImportFault> {
    let provider = try message.text("providerId") ?? ""
    guard provider != "password", provider != "phone" else { return .success(nil) }
    guard let rawID = try message.given("rawId"), !provider.isEmpty else {
      return .failure(.missingRawID)
    }
    return .success(
      ProviderLink(
        provider: provider, rawID: rawID, email: try message.text("email"),
        displayName: try message.text("displayName"), photoURL: try message.text("photoUrl")))
  }

  private static func factor(
    _ message: RequestMessage
  ) throws(WireError) -> Result<ImportedFactor, ImportFault> {
    var factor = ImportedFactor(.unknown)
    factor.id = try message.given("mfaEnrollmentId")
    factor.displayName = try message.given("displayName")
    if let text = try message.given("enrolledAt") {
      guard let moment = Instant(rfc3339: text) else {
        return .failure(.unreadable("The enrollment time isn't an RFC 3339 timestamp."))
      }
      factor.enrolledAt = moment
    }
    if let phone = try message.given("phoneInfo") {
      factor.kind = .phone(phone)
    } else if let totp = try message.message("totpInfo") {
      guard let text = try totp.given("sharedSecretKey") else {
        return .failure(.totpNotAllowed)
      }
      guard let secret = Base32.decode(text) else { return .failure(.invalidTOTPSecret) }
      factor.codeParameters = try parameters(totp)
      factor.kind = .totp(Secret(secret))
    }
    return .success(factor)
  }

  /// Returns what a row says about the codes of an app, under the names of enrollments and those of
  /// `otpauth` URIs; a member that's unknown may say something about them, too.
  private static func parameters(
    _ totp: RequestMessage
  ) throws(WireError) -> [ImportedFactor.CodeParameter] {
    var parameters: [ImportedFactor.CodeParameter] = []
    let (algorithms, lengths, periods) = (
      ["hashingAlgorithm", "algorithm"], ["verificationCodeLength", "digits"],
      ["periodSec", "period"]
    )
    for name in algorithms {
      if let value = try totp.given(name) { parameters.append(.init(name, .algorithm(value))) }
    }
    for name in lengths {
      if let value = try totp.int32(name), value != 0 {
        parameters.append(.init(name, .digits(value)))
      }
    }
    for name in periods {
      if let value = try totp.int32(name), value != 0 {
        parameters.append(.init(name, .period(value)))
      }
    }
    let known = ["sharedSecretKey", "issuer"] + algorithms + lengths + periods
    for member in totp.object.members
    where !member.value.isNull && !known.contains(where: { Names.match(member.name, $0) }) {
      parameters.append(.init(member.name.text, .unknown))
    }
    return parameters
  }
}

extension RequestMessage {
  /// Returns a time in milliseconds; nil for an empty text, which means unset in files.
  fileprivate func moment(_ name: String) throws(WireError) -> Instant? {
    guard let value = try value(name), value != "" else { return nil }
    return try int64(name).map(Instant.init(milliseconds:))
  }
}

extension HashParameters {
  init(_ message: RequestMessage) throws(WireError) {
    self.init()
    algorithm = try message.text("hashAlgorithm")?.uppercased()
    signerKey = try message.bytes("signerKey")
    saltSeparator = try message.bytes("saltSeparator")
    rounds = try message.int32("rounds")
    memoryCost = try message.int32("memoryCost")
    cpuMemCost = try message.int32("cpuMemCost")
    parallelization = try message.int32("parallelization")
    blockSize = try message.int32("blockSize")
    dkLen = try message.int32("dkLen")
    switch try message.enumeration("passwordHashOrder", Self.orders) {
    case 1: order = .saltFirst
    case 2: order = .passwordFirst
    default: break
    }
    guard let argon2 = try message.message("argon2Parameters") else { return }
    argon2Length = try argon2.int32("hashLengthBytes").flatMap { $0 == 0 ? nil : $0 }
    let kind = try argon2.enumeration("hashType", Self.kinds) ?? 0
    namesArgon2Kind = kind != 0
    let kinds: [Argon2.Kind] = [.id, .d, .id, .i]
    let version = try argon2.enumeration("version", Self.versions) ?? 0
    self.argon2 = Argon2(
      kind: kinds[kind],
      version: version == 1 ? 16 : 19, memory: try argon2.int32("memoryCostKib") ?? 0,
      passes: try argon2.int32("iterations") ?? 0, lanes: try argon2.int32("parallelism") ?? 0,
      associatedData: try argon2.bytes("associatedData") ?? [])
  }

  static let orders = EnumType(
    name: "google.cloud.identitytoolkit.v1.UploadAccountRequest.PasswordHashOrder",
    values: ["UNSPECIFIED_ORDER", "SALT_AND_PASSWORD", "PASSWORD_AND_SALT"])
  static let kinds = EnumType(
    name: "google.cloud.identitytoolkit.v1.Argon2Parameters.HashType",
    values: ["HASH_TYPE_UNSPECIFIED", "ARGON2_D", "ARGON2_ID", "ARGON2_I"])
  static let versions = EnumType(
    name: "google.cloud.identitytoolkit.v1.Argon2Parameters.Version",
    values: ["VERSION_UNSPECIFIED", "VERSION_10", "VERSION_13"])
}

extension RequestMessage {
  func bytes(_ name: String) throws(WireError) -> [UInt8]? {
    guard let text = try text(name) else { return nil }
    guard let bytes = Base64URL.decode(text) else {
      throw .notBase64(text, at: field(name))
    }
    return bytes
  }
}
