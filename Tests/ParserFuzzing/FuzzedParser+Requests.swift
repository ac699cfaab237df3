import Crypto
import DatabasePostgreSQL
@testable import Identity
@testable import IdentityToolkitAPI
import JSON
import SMTP

extension FuzzedParser {
  /// A user of an import, as hashes of each kind.
  static func importedUser(_ bytes: [UInt8]) -> String? {
    guard let value = try? JSON.parse(bytes), case .object(let object) = value else { return nil }
    for name in ["", "HMAC_SHA256", "BCRYPT", "STANDARD_SCRYPT"] {
      var parameters = HashParameters()
      parameters.algorithm = name
      parameters.signerKey = [1, 2, 3]
      (parameters.cpuMemCost, parameters.parallelization) = (1_024, 1)
      (parameters.blockSize, parameters.dkLen) = (8, 32)
      guard let algorithm = try? PasswordAlgorithm(parameters) else { return "no hash \(name)" }
      let reader = UserRow(algorithm: algorithm, profile: .standalone)
      guard case .success(let user)? = try? reader.read(RequestMessage(object)) else { continue }
      if case .emulatorText? = user.password { return "a password of the emulator is accepted" }
      if let claims = user.customAttributes, (try? UserRow.check(claims: claims)) == nil {
        return "invalid claims are accepted"
      }
      guard user.providers.allSatisfy({ $0.provider != "password" && $0.provider != "phone" })
      else { return "an own sign-in method is an identity" }
    }
    return nil
  }

  /// Reads a mask, a line feed, and a body.
  ///
  /// What a mask doesn't cover stays, and applying it again changes nothing.
  static func updateMask(_ bytes: [UInt8]) -> String? {
    let line = bytes.prefix { $0 != 0x0A }
    let mask = UpdateMask(String(decoding: line, as: UTF8.self))
    guard mask.paths.allSatisfy({ !$0.isEmpty && !$0.contains("") }) else {
      return "a path has an empty segment"
    }
    guard case .object(let body)? = try? JSON.parse(Array(bytes.dropFirst(line.count + 1))) else {
      return nil
    }
    let before: JSON.Object = ["kept": .object(["a": .bool(true)]), "mfa": .string("x")]
    var resource = before
    mask.apply(body, to: &resource)
    if !mask.covers("kept"), resource["kept"] != before["kept"] { return "a kept member changed" }
    let once = resource
    mask.apply(body, to: &resource)
    return resource == once ? nil : "applying a mask again changes more"
  }

  /// The addresses of a mail server and of a database.
  static func serverURL(_ text: String) -> String? {
    if let server = try? SMTPServer(text) {
      guard !server.host.isEmpty, (1...65_535).contains(server.port) else {
        return "no host or port"
      }
      guard let again = try? SMTPServer(server.url), again.user == nil, again.host == server.host,
        again.port == server.port, again.isTLSFromStart == server.isTLSFromStart
      else { return "a URL without its user is another server" }
    }
    guard let address = try? PostgreSQLAddress(text) else { return nil }
    guard (1...8).contains(address.servers.count), !address.database.isEmpty,
      address.servers.allSatisfy({ !$0.host.isEmpty && (1...65_535).contains($0.port) })
    else { return "an address without a server or a database" }
    let texts = [address.user ?? "", address.database] + address.parameters.flatMap { [$0, $1] }
    guard texts.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }) else {
      return "a control character is left"
    }
    guard address.parameters["password"] == nil else { return "a password is accepted" }
    return text.contains("disable") || address.tls != .disable
      || address.servers.allSatisfy(\.isLocal) ? nil : "another machine is asked without TLS"
  }
}
