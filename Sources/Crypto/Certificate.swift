import CCrypto
import Glibc

/// Properties of an X.509 certificate (RFC 5280), none of which is verified.
public struct Certificate: Sendable, Equatable {
  /// The subject, such as `/CN=mfa.example.com`, at most 255 bytes.
  public let subject: String
  /// The start of validity, in seconds since 1970.
  public let notBefore: Int64
  /// The end of validity, in seconds since 1970.
  public let notAfter: Int64

  /// Parses the certificates of a file (RFC 7468), up to the first invalid one.
  ///
  /// - Parameter bytes: The file, which may contain other kinds of PEM data.
  /// - Returns: The certificates in order.
  public static func all(inPEM bytes: [UInt8]) -> [Certificate] {
    defer { ERR_clear_error() }
    return unsafe bytes.withUnsafeBufferPointer { buffer in
      var found: [Certificate] = []
      guard let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count))
      else { return found }
      defer { unsafe BIO_free(bio) }
      while let pointer = unsafe PEM_read_bio_X509(bio, nil, nil, nil) {
        defer { unsafe X509_free(pointer) }
        guard let certificate = unsafe Certificate(pointer) else { break }
        found.append(certificate)
      }
      return found
    }
  }

  /// Returns whether a private key belongs to the first certificate of a file.
  ///
  /// - Parameters:
  ///   - key: The key in PEM format, not encrypted.
  ///   - bytes: The certificate in PEM format.
  /// - Returns: False if it belongs to another certificate; nil if one of them can't be parsed.
  public static func isKey(_ key: [UInt8], ofFirstIn bytes: [UInt8]) -> Bool? {
    defer { ERR_clear_error() }
    return unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe key.withUnsafeBufferPointer { key -> Bool? in
        guard let first = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
        else { return nil }
        defer { unsafe BIO_free(first) }
        guard let second = unsafe BIO_new_mem_buf(key.baseAddress, Int32(clamping: key.count))
        else { return nil }
        defer { unsafe BIO_free(second) }
        guard let certificate = unsafe PEM_read_bio_X509(first, nil, nil, nil) else { return nil }
        defer { unsafe X509_free(certificate) }
        // Without a callback, libcrypto would ask for the password of an encrypted key.
        guard
          let pair = unsafe PEM_read_bio_PrivateKey(second, nil, { _, _, _, _ in 0 }, nil)
        else { return nil }
        defer { unsafe EVP_PKEY_free(pair) }
        return unsafe X509_check_private_key(certificate, pair) == 1
      }
    }
  }
}

extension Certificate {
  private init?(_ pointer: OpaquePointer) {
    guard let before = unsafe Certificate.seconds(X509_get0_notBefore(pointer)),
      let after = unsafe Certificate.seconds(X509_get0_notAfter(pointer))
    else { return nil }
    var text = [CChar](repeating: 0, count: 256)
    _ = unsafe X509_NAME_oneline(X509_get_subject_name(pointer), &text, Int32(text.count))
    let name = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    self.init(
      subject: String(decoding: name, as: UTF8.self), notBefore: before, notAfter: after)
  }

  private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
    var parts = unsafe tm()
    guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
    return Int64(unsafe timegm(&parts))
  }
}
