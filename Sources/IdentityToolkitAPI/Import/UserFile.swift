public import Crypto
public import Identity
public import JSON
public import Text

/// Reads and writes the user files of the Firebase CLI, in JSON and CSV format.
///
/// ```swift
/// let file = try UserFile(hashes: parameters, profile: .standalone)
/// let row = file.row(json: try JSON.parse(bytes))
/// ```
public struct UserFile: Sendable {
  private let reader: UserRow

  /// Creates a reader for files whose hashes share the same parameters.
  public init(hashes: HashParameters, profile: Profile) throws(HashParameterError) {
    reader = UserRow(algorithm: try PasswordAlgorithm(hashes), profile: profile)
  }

  public func row(json: JSON) -> ImportRow {
    guard case .object(let object) = json else {
      return .failure(.unreadable("The user isn't a JSON object."))
    }
    guard !json.hasNUL else { return .failure(.unreadable(WireError.nulInString)) }
    do throws(WireError) { return try reader.read(RequestMessage(object)) } catch {
      return .failure(.unreadable(error.message))
    }
  }

  /// Parses the fields of a line.
  ///
  /// Fields after the last known one are ignored; the line may also have fewer fields.
  public func row(csv fields: [UntrustedText]) -> ImportRow {
    func field(_ index: Int) -> UntrustedText? {
      index < fields.count && !fields[index].isEmpty ? fields[index] : nil
    }
    var object: JSON.Object = [:]
    for (index, name) in Self.columns {
      guard let text = field(index) else { continue }
      guard Self.flags.contains(name) else {
        object.append(name, .text(text))
        continue
      }
      guard let flag = Self.flag(text) else {
        return .failure(
          .unreadable("The field \(name) in column \(index + 1) is neither true nor false."))
      }
      object.append(name, .bool(flag))
    }
    var providers: [JSON] = []
    for (index, provider) in Self.providers {
      guard let rawID = field(index) else { continue }
      var link: JSON.Object = ["providerId": .string(provider), "rawId": .text(rawID)]
      for (offset, name) in Self.providerFields.enumerated() {
        if let text = field(index + 1 + offset) { link.append(name, .text(text)) }
      }
      providers.append(.object(link))
    }
    if !providers.isEmpty { object.append("providerUserInfo", .array(providers)) }
    return row(json: .object(object))
  }

  private static func flag(_ text: UntrustedText) -> Bool? {
    guard text.byteCount <= 5 else { return nil }
    return switch text.text.lowercased() {
    case "true": true
    case "false": false
    default: nil
    }
  }

  private static let columns: [(Int, String)] = [
    (0, "localId"), (1, "email"), (2, "emailVerified"), (3, "passwordHash"), (4, "salt"),
    (5, "displayName"), (6, "photoUrl"), (23, "createdAt"), (24, "lastLoginAt"),
    (25, "phoneNumber"), (26, "disabled"), (27, "customAttributes"),
  ]
  private static let flags = ["emailVerified", "disabled"]
  private static let providers: [(Int, String)] = [
    (7, "google.com"), (11, "facebook.com"), (15, "twitter.com"), (19, "github.com"),
    (28, "apple.com"), (32, "microsoft.com"), (36, "gc.apple.com"),
    (40, "playgames.google.com"), (44, "linkedin.com"), (48, "yahoo.com"),
  ]
  private static let providerFields = ["email", "displayName", "photoUrl"]
}

// MARK: - Writing

extension UserFile {
  /// Returns an element of `users`.
  ///
  /// The second factors include only phones, because an authenticator app is useless without its
  /// secret, and secrets are never exported.
  public static func json(_ item: ExportedAccount) -> JSON {
    let account = item.account
    var user: JSON.Object = ["localId": .string(account.id.text)]
    UserMessage.append("email", account.email, to: &user)
    user.append("emailVerified", .bool(account.emailVerified))
    if let hash = item.passwordHash {
      user.append("passwordHash", .string(Base64URL.encodeStandard(Array(hash.encoded.utf8))))
    }
    UserMessage.append("displayName", account.displayName, to: &user)
    UserMessage.append("photoUrl", account.photoURL, to: &user)
    UserMessage.append("lastSignedInAt", account.lastLoginAt.map(milliseconds), to: &user)
    user.append("createdAt", .string(milliseconds(account.createdAt)))
    UserMessage.append("phoneNumber", account.phoneNumber, to: &user)
    if account.disabled { user.append("disabled", true) }
    UserMessage.append("customAttributes", account.customAttributes, to: &user)
    if account.signsInByLink { user.append("emailLinkSignin", true) }
    let phones = account.factors.filter { $0.kind == .phone }
    if !phones.isEmpty { user.append("mfaInfo", UserMessage.mfaInfo(phones, masked: false)) }
    user.append(
      "providerUserInfo",
      .array(
        account.providers.map { link in
          var provider: JSON.Object = [
            "providerId": .string(link.provider), "rawId": .string(link.rawID),
          ]
          UserMessage.append("email", link.email, to: &provider)
          UserMessage.append("displayName", link.displayName, to: &provider)
          UserMessage.append("photoUrl", link.photoURL, to: &provider)
          return .object(provider)
        }))
    return .object(user)
  }

  /// Returns a line with its line ending.
  ///
  /// Providers without a column are omitted, and so are second factors.
  public static func csv(_ item: ExportedAccount) -> String {
    let account = item.account
    var fields = [String](repeating: "", count: 52)
    fields[0] = account.id.text
    fields[1] = account.email ?? ""
    fields[2] = String(account.emailVerified)
    fields[3] =
      item.passwordHash.map { Base64URL.encodeStandard(Array($0.encoded.utf8)) } ?? ""
    fields[5] = account.displayName ?? ""
    fields[6] = account.photoURL ?? ""
    for link in account.providers {
      guard let index = providers.first(where: { $0.1 == link.provider })?.0 else { continue }
      fields[index] = link.rawID
      fields[index + 1] = link.email ?? ""
      fields[index + 2] = link.displayName ?? ""
      fields[index + 3] = link.photoURL ?? ""
    }
    fields[23] = milliseconds(account.createdAt)
    fields[24] = account.lastLoginAt.map(milliseconds) ?? ""
    fields[25] = account.phoneNumber ?? ""
    fields[26] = account.disabled ? "true" : ""
    fields[27] = account.customAttributes ?? ""
    return fields.map(quoted).joined(separator: ",") + ",\n"
  }

  /// Returns whether a line has a column for an identity, which ``csv(_:)`` omits otherwise.
  public static func csvHasColumn(_ link: ProviderLink) -> Bool {
    providers.contains { $0.1 == link.provider }
  }

  private static func milliseconds(_ moment: Instant) -> String { String(moment.milliseconds) }

  private static func quoted(_ field: String) -> String {
    let special: [UInt8] = [0x22, 0x2C, 0x0A, 0x0D]
    guard field.utf8.contains(where: special.contains) else { return field }
    var bytes: [UInt8] = [0x22]
    for byte in field.utf8 {
      if byte == 0x22 { bytes.append(byte) }
      bytes.append(byte)
    }
    bytes.append(0x22)
    return String(decoding: bytes, as: UTF8.self)
  }
}
