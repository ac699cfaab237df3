import CArgon2
import CCrypt
import CCrypto

extension HashText {
  /// Verifies a password in constant time; blocks as long as the algorithm takes.
  ///
  /// Also returns false when the library is out of memory.
  func matches(_ password: Secret) -> Bool {
    guard let derived = derive(password.revealedBytes) else { return false }
    return constantTimeEqual(derived, hash)
  }

  private func derive(_ password: [UInt8]) -> [UInt8]? {
    switch algorithm {
    case .hmac(let digest, let key, let order):
      digest.code(key, message: order.join(password, salt))
    case .digest(let digest, let rounds, let order):
      digest.hash(order.join(password, salt), rounds: rounds)
    case .pbkdf2(let digest, let rounds):
      // PBKDF2 needs at least one round, so zero is treated as one.
      Derivation.pbkdf2(digest, password, salt, rounds: max(rounds, 1), count: hash.count)
    case .firebaseScrypt(let key, let separator, let rounds, let cost):
      Derivation.scrypt(
        password, salt + separator, cost: 1 << cost, blockSize: rounds, lanes: 1, count: 64
      ).flatMap { Derivation.encrypt(key, under: Array($0.prefix(32))) }
    case .scrypt(let cost, let blockSize, let lanes):
      Derivation.scrypt(
        password, salt, cost: cost, blockSize: blockSize, lanes: lanes, count: hash.count)
    case .argon2(let argon2): Derivation.argon2(argon2, password, salt, count: hash.count)
    case .bcrypt, .selfDescribing: nil
    }
  }
}

extension PasswordOrder {
  fileprivate func join(_ password: [UInt8], _ salt: [UInt8]) -> [UInt8] {
    self == .saltFirst ? salt + password : password + salt
  }
}

extension LegacyDigest {
  var method: OpaquePointer? {
    switch self {
    case .md5: unsafe EVP_md5()
    case .sha1: unsafe EVP_sha1()
    case .sha256: unsafe EVP_sha256()
    case .sha512: unsafe EVP_sha512()
    }
  }

  fileprivate func hash(_ message: [UInt8], rounds: Int) -> [UInt8]? {
    var result = message
    // Zero rounds, which MD5 allows, are treated as one.
    for _ in 0..<max(rounds, 1) {
      var output = [UInt8](repeating: 0, count: length)
      guard
        unsafe EVP_Digest(result, result.count, &output, nil, method, nil) == 1
      else { return nil }
      result = output
    }
    return result
  }

  fileprivate func code(_ key: [UInt8], message: [UInt8]) -> [UInt8]? {
    var output = [UInt8](repeating: 0, count: length)
    var written: UInt32 = 0
    guard
      unsafe CCrypto.HMAC(
        method, key, Int32(key.count), message, message.count, &output, &written) != nil,
      Int(written) == length
    else { return nil }
    return output
  }
}

/// The libraries' slow functions.
enum Derivation {
  static func pbkdf2(
    _ digest: LegacyDigest, _ password: [UInt8], _ salt: [UInt8], rounds: Int, count: Int
  ) -> [UInt8]? {
    var output = [UInt8](repeating: 0, count: count)
    let done = unsafe password.withUnsafeBytes { bytes in
      unsafe PKCS5_PBKDF2_HMAC(
        bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count), salt,
        Int32(salt.count), Int32(rounds), digest.method, Int32(count), &output)
    }
    return done == 1 ? output : nil
  }

  static func scrypt(
    _ password: [UInt8], _ salt: [UInt8], cost: Int, blockSize: Int, lanes: Int, count: Int
  ) -> [UInt8]? {
    var output = [UInt8](repeating: 0, count: count)
    let most = UInt64(PasswordCeiling.memory + PasswordCeiling.memoryWork)
    let done = unsafe password.withUnsafeBytes { bytes in
      unsafe EVP_PBE_scrypt(
        bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, salt, salt.count,
        UInt64(cost), UInt64(blockSize), UInt64(lanes), most, &output, count)
    }
    return done == 1 ? output : nil
  }

  /// Encrypts with AES-256-CTR from a counter of zero, as Firebase scrypt does.
  static func encrypt(_ plain: [UInt8], under key: [UInt8]) -> [UInt8]? {
    guard let context = unsafe EVP_CIPHER_CTX_new() else { return nil }
    defer { unsafe EVP_CIPHER_CTX_free(context) }
    var output = [UInt8](repeating: 0, count: plain.count)
    var written: Int32 = 0
    let counter = [UInt8](repeating: 0, count: 16)
    guard
      unsafe EVP_EncryptInit_ex(context, EVP_aes_256_ctr(), nil, key, counter) == 1,
      unsafe EVP_EncryptUpdate(context, &output, &written, plain, Int32(plain.count)) == 1,
      Int(written) == plain.count
    else { return nil }
    return output
  }

  static func argon2(
    _ argon2: Argon2, _ password: [UInt8], _ salt: [UInt8], count: Int
  ) -> [UInt8]? {
    var output = [UInt8](repeating: 0, count: count)
    let type: Int32 =
      switch argon2.kind {
      case .d: 0
      case .i: 1
      case .id: 2
      }
    let outcome = unsafe countersign_argon2(
      type, UInt32(argon2.version), UInt32(argon2.passes), UInt32(argon2.memory),
      UInt32(argon2.lanes), password, password.count, salt, salt.count, argon2.associatedData,
      argon2.associatedData.count, &output, count)
    return outcome == 0 ? output : nil
  }

  /// Verifies a password against a bcrypt hash in constant time.
  static func matchesBcrypt(_ password: [UInt8], _ text: String) -> Bool {
    // The library stops at the first NUL, so it would accept a prefix of the password.
    guard
      !password.contains(0), let cost = Bcrypt.cost(of: text),
      PasswordCeiling.bcryptCost.contains(cost)
    else { return false }
    var derived = [CChar](repeating: 0, count: 128)
    let phrase = (password + [0]).map { CChar(bitPattern: $0) }
    guard unsafe countersign_crypt(phrase, text, &derived, derived.count) == 1 else { return false }
    let bytes = derived.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return constantTimeEqual(bytes, Array(text.utf8))
  }
}

/// A bcrypt hash: `$2b$`, the cost, 22 characters of salt, and 31 of hash.
enum Bcrypt {
  static let length = 60

  /// Returns the cost; nil when the text isn't a bcrypt hash.
  static func cost(of text: String) -> Int? {
    let bytes = Array(text.utf8)
    let heads = ["$2a$", "$2b$", "$2y$"].map { Array($0.utf8) }
    guard
      bytes.count == length, heads.contains(Array(bytes[..<4])), bytes[6] == UInt8(ascii: "$"),
      let cost = Int(String(decoding: bytes[4..<6], as: UTF8.self)),
      bytes[7...].allSatisfy({ byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: ".")...UInt8(ascii: "9"):
          true
        default: false
        }
      })
    else { return nil }
    return cost
  }
}
