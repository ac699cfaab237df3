import Crypto
import Identity
import JSON

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
  /// Returns bytes in either base64 alphabet, with or without padding.
  func bytes(_ name: String) throws(WireError) -> [UInt8]? {
    guard let text = try text(name) else { return nil }
    guard let bytes = Base64URL.decode(text) else {
      throw .notBase64(text, at: field(name))
    }
    return bytes
  }
}
