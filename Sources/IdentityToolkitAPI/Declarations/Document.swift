import HTTP
import Identity
import JSON
import Synchronization

extension Declaration {
  static let document = Declaration(
    "openapi", "This document, with all operations of the server.", gives: .object)
  static let emulatorDocument = Declaration(
    "emulator.openapi", "This document, at the path where tools expect an emulator's.",
    gives: .object)
}

/// The OpenAPI document of a server, written once all routes are known, including its own.
final class Document: Sendable {
  private struct Written {
    var bytes: [UInt8] = []
    var tag = EntityTag("none")
  }

  private let profile: Profile
  private let written = Mutex(Written())

  init(_ profile: Profile) { self.profile = profile }

  func write(_ operations: [Operation]) {
    let bytes = OpenAPI.document(operations, profile)
    written.withLock { $0 = Written(bytes: bytes, tag: EntityTag(Self.digest(bytes))) }
  }

  @Sendable func answer(_ request: Request) async -> Response {
    let written = written.withLock { $0 }
    var response = Response(
      fields: [.contentType: "application/json"], body: .bytes(written.bytes))
    response.fields[.cacheControl] = "public, no-cache"
    return response.conditional(on: written.tag, for: request)
  }

  /// Computes 64-bit FNV-1a; the tag only has to distinguish the documents of different releases.
  private static func digest(_ bytes: [UInt8]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 36)
  }
}
