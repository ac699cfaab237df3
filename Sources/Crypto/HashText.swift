/// The text form of an imported hash: `$name$parameters$salt$hash`.
///
/// Bytes are base64url; parameters are `name=value`, separated by commas. Argon2 uses the form of
/// its reference implementation, and bcrypt its usual form.
///
/// ```
/// $sha256$n=1,o=sp$c2FsdA$LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ
/// ```
struct HashText {
  let algorithm: PasswordAlgorithm
  let salt: [UInt8]
  let hash: [UInt8]

  /// The text, which is only stored.
  var encoded: String {
    let (name, parameters) = head
    let salt = Base64URL.encode(salt)
    let hash = Base64URL.encode(hash)
    return "$\(name)$\(parameters)$\(salt)$\(hash)"
  }

  private var head: (name: String, parameters: String) {
    switch algorithm {
    case .hmac(let digest, let key, let order):
      ("hmac-\(digest.rawValue)", "o=\(order.rawValue),k=\(Base64URL.encode(key))")
    case .digest(let digest, let rounds, let order):
      (digest.rawValue, "n=\(rounds),o=\(order.rawValue)")
    case .pbkdf2(let digest, let rounds): ("pbkdf2-\(digest.rawValue)", "n=\(rounds)")
    case .firebaseScrypt(let key, let separator, let rounds, let cost):
      (
        "firebase-scrypt",
        "r=\(rounds),m=\(cost),s=\(Base64URL.encode(separator)),k=\(Base64URL.encode(key))"
      )
    case .scrypt(let cost, let blockSize, let lanes):
      ("scrypt", "n=\(cost),r=\(blockSize),p=\(lanes)")
    case .argon2(let argon2):
      (
        "\(argon2.kind.rawValue)$v=\(argon2.version)",
        "m=\(argon2.memory),t=\(argon2.passes),p=\(argon2.lanes)"
          + (argon2.associatedData.isEmpty
            ? "" : ",data=\(Base64URL.encode(argon2.associatedData))")
      )
    case .bcrypt, .selfDescribing: ("", "")
    }
  }

  init(algorithm: PasswordAlgorithm, salt: [UInt8], hash: [UInt8]) {
    self.algorithm = algorithm
    self.salt = salt
    self.hash = hash
  }

  /// Parses a text; nil when it's invalid or exceeds this server's limits.
  init?(_ text: String) {
    var fields = text.split(separator: "$", omittingEmptySubsequences: false)[...]
    guard fields.popFirst() == "", let name = fields.popFirst() else { return nil }
    var version: Int?
    if let field = fields.first, field.hasPrefix("v=") {
      guard let number = Int(field.dropFirst(2)) else { return nil }
      version = number
      fields.removeFirst()
    }
    guard
      fields.count == 3, let parameters = Parameters(fields[fields.startIndex]),
      let salt = Base64URL.decode(fields[fields.startIndex + 1]),
      let hash = Base64URL.decode(fields[fields.startIndex + 2]),
      let algorithm = Self.algorithm(String(name), version, parameters)
    else { return nil }
    self.algorithm = algorithm
    self.salt = salt
    self.hash = hash
  }

  private static func algorithm(
    _ name: String, _ version: Int?, _ parameters: Parameters
  ) -> PasswordAlgorithm? {
    if let kind = Argon2.Kind(rawValue: name) {
      let argon2 = Argon2(
        // Without a version, it's version 1.0, as in the reference implementation.
        kind: kind, version: version ?? 16, memory: parameters.number("m") ?? 0,
        passes: parameters.number("t") ?? 0, lanes: parameters.number("p") ?? 0,
        associatedData: parameters.bytes("data") ?? [])
      return (try? PasswordAlgorithm.checked(argon2)).map(PasswordAlgorithm.argon2)
    }
    guard version == nil else { return nil }
    let parts = name.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
      .map(String.init)
    var declared = HashParameters()
    declared.rounds = parameters.number("n")
    declared.order = parameters["o"].flatMap { PasswordOrder(rawValue: String($0)) }
    declared.signerKey = parameters.bytes("k")
    switch (parts[0], parts.count > 1 ? parts[1] : "") {
    case ("hmac", let digest): declared.algorithm = "HMAC_\(digest.uppercased())"
    case ("pbkdf2", "sha1"): declared.algorithm = "PBKDF_SHA1"
    case ("pbkdf2", "sha256"): declared.algorithm = "PBKDF2_SHA256"
    case ("pbkdf2", "sha512"): declared.algorithm = "PBKDF2_SHA512"
    case ("firebase", "scrypt"):
      declared.algorithm = "SCRYPT"
      declared.rounds = parameters.number("r")
      declared.memoryCost = parameters.number("m")
      declared.saltSeparator = parameters.bytes("s")
    case ("scrypt", ""):
      declared.algorithm = "STANDARD_SCRYPT"
      declared.cpuMemCost = parameters.number("n")
      declared.blockSize = parameters.number("r")
      declared.parallelization = parameters.number("p")
    case (let digest, ""):
      guard LegacyDigest(rawValue: digest) != nil else { return nil }
      declared.algorithm = digest.uppercased()
    default: return nil
    }
    return try? PasswordAlgorithm(declared)
  }

  /// The parameters between two dollar signs.
  private struct Parameters {
    private var values: [Substring: Substring] = [:]

    init?(_ text: Substring) {
      for part in text.split(separator: ",") {
        guard let equals = part.firstIndex(of: "=") else { return nil }
        let name = part[..<equals]
        guard values.updateValue(part[part.index(after: equals)...], forKey: name) == nil else {
          return nil
        }
      }
    }

    subscript(_ name: Substring) -> Substring? { values[name] }
    func number(_ name: Substring) -> Int? { values[name].flatMap { Int($0) } }
    func bytes(_ name: Substring) -> [UInt8]? { values[name].flatMap { Base64URL.decode($0) } }
  }
}
