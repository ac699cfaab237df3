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

/// The OpenAPI document of a server, written for the first request.
final class Document: Sendable {
  private struct Written {
    let bytes: [UInt8]
    let tag: EntityTag
  }

  private struct State {
    /// Known only after the document's own route is.
    var operations: [Operation] = []
    var written: Written?
  }

  private let profile: Profile
  private let state = Mutex(State())

  init(_ profile: Profile) { self.profile = profile }

  func describe(_ operations: [Operation]) {
    state.withLock { $0.operations = operations }
  }

  private var written: Written {
    state.withLock { state in
      if let written = state.written { return written }
      let bytes = OpenAPI.document(state.operations, profile)
      let written = Written(bytes: bytes, tag: EntityTag(Self.digest(bytes)))
      state.written = written
      return written
    }
  }

  @Sendable func answer(_ request: Request) async -> Response {
    let written = written
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
