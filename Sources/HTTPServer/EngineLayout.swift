import CMicroHTTPD
import Host

/// Assumptions about the internals of libmicrohttpd, checked before the first request.
///
/// Requests are validated by where the engine keeps their parts in memory (`HeaderReader`), and
/// chunked bodies are decoded here instead of in the engine (`ChunkDecoder`), which is told where
/// they end. Another version might differ, so the version must be a tested one, and the offset of
/// the one number that is written is found by experiment.
struct EngineLayout: Sendable {
  /// The versions whose buffers were tested with raw requests.
  static let testedVersions: Set = ["0.9.75"]

  /// The offset in a connection of the number of remaining body bytes.
  let remaining: Int

  /// The layout of the loaded library, determined once.
  private static let found = Result<EngineLayout, ServerError> { () throws(ServerError) in
    try EngineLayout(version: unsafe String(cString: MHD_get_version()))
  }

  /// Returns the layout of the loaded library.
  static func checked() throws(ServerError) -> EngineLayout {
    try found.get()
  }

  init(version: String) throws(ServerError) {
    guard EngineLayout.testedVersions.contains(version) else {
      let tested = EngineLayout.testedVersions.sorted().joined(separator: ", ")
      throw .cannotStart(
        reason:
          "libmicrohttpd \(version) isn't supported: requests are checked in its buffers, and "
          + "only those of \(tested) were tested.")
    }
    guard EngineHooks.areInPlace else {
      throw .cannotStart(reason: "libmicrohttpd can't be hooked: the program exports no symbols.")
    }
    var error: Int32 = 0
    remaining = unsafe engine_find_remaining(&error)
    if remaining == 0, error != 0 { throw .system(SystemError(error)) }
    guard remaining > 0 else {
      throw .cannotStart(reason: "libmicrohttpd \(version) isn't built as the tested one was.")
    }
  }
}
