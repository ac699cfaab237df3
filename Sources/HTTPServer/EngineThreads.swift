import CMicroHTTPD
import Glibc
import Host

/// The engine threads started with one certificate.
///
/// `@unchecked Sendable`, because:
/// 1. `threads` and `texts`, and what they point to, are set in `init` and constant until `stop`;
/// 2. the engine accepts connections from any thread, and `stop` is called once.
@safe final class EngineThreads: @unchecked Sendable {
  /// The generation number, which connections store.
  let generation: Int
  private let threads: [OpaquePointer]
  private let texts: Texts

  /// Starts one engine per thread; throws `ServerError` when the certificate or key can't be used,
  /// or the system lacks resources.
  init(_ engine: Engine, generation: Int, connections: Int) throws(ServerError) {
    self.generation = generation
    let configuration = engine.configuration
    texts = try Texts(configuration.tls)
    var settings = unsafe engine_settings()
    var flags =
      MHD_USE_EPOLL.rawValue | MHD_USE_INTERNAL_POLLING_THREAD.rawValue
      | MHD_USE_SUSPEND_RESUME.rawValue | MHD_USE_TURBO.rawValue
      | MHD_USE_NO_LISTEN_SOCKET.rawValue
    if unsafe texts.certificate != nil { flags |= MHD_USE_TLS.rawValue }
    unsafe settings.flags = flags
    unsafe settings.connections = UInt32(connections)
    unsafe settings.memory = EngineThreads.memory(for: configuration.limits)
    unsafe settings.certificate = texts.certificate.map { unsafe UnsafePointer($0) }
    unsafe settings.key = texts.key.map { unsafe UnsafePointer($0) }
    unsafe settings.priorities = texts.priorities.map { unsafe UnsafePointer($0) }
    unsafe settings.context = Unmanaged.passUnretained(engine).toOpaque()
    unsafe settings.handle = Callbacks.handle
    unsafe settings.begin = Callbacks.begin
    unsafe settings.complete = Callbacks.complete
    unsafe settings.notice = Callbacks.notice
    var threads: [OpaquePointer] = unsafe []
    var error = SystemError(0)
    while unsafe threads.count < configuration.threads {
      guard let thread = unsafe engine_start(&settings) else {
        error = .last
        break
      }
      unsafe threads.append(thread)
    }
    unsafe self.threads = threads
    guard unsafe threads.count == configuration.threads else {
      unsafe threads.forEach { unsafe MHD_stop_daemon($0) }
      guard configuration.tls == nil || error.isTemporary else {
        throw .cannotStart(
          reason: "The HTTP engine could not start: GnuTLS refuses the certificate or its key.")
      }
      throw .system(error)
    }
  }

  /// Passes a connection to its thread; returns false when the engine rejects it.
  func add(_ connection: Connection, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Bool
  {
    unsafe MHD_add_connection(threads[connection.thread], connection.socket, address, size)
      == MHD_Result.YES
  }

  /// Ends all threads and connections; must be called once.
  func stop() {
    unsafe threads.forEach { unsafe MHD_stop_daemon($0) }
  }

  /// Returns the engine's memory per connection, in bytes, for the header, its index, and the
  /// response.
  private static func memory(for limits: Limits) -> Int {
    min(max(limits.headers, 4 << 10), 64 << 10) * 2
  }
}

/// C strings for the engine, which must live as long as it does.
///
/// `@unchecked Sendable`, because:
/// 1. the strings are created in `init`, freed in `deinit`, and never changed in between.
@safe private final class Texts: @unchecked Sendable {
  let certificate: UnsafeMutablePointer<CChar>?
  let key: UnsafeMutablePointer<CChar>?
  let priorities: UnsafeMutablePointer<CChar>?

  /// Reads the certificate and key, if there are any.
  init(_ tls: ServerConfiguration.TLS?) throws(ServerError) {
    let certificate = try tls.map { tls throws(ServerError) in try readText(tls.certificate) }
    let key = try tls.map { tls throws(ServerError) in try readText(tls.key) }
    unsafe self.certificate = certificate.map { unsafe strdup($0) }
    unsafe self.key = key.map { unsafe strdup($0) }
    // Key exchange with RSA has no forward secrecy.
    let priority = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA"
    unsafe priorities = tls.map { _ in unsafe strdup(priority) }
  }

  deinit {
    unsafe free(certificate)
    unsafe free(key)
    unsafe free(priorities)
  }
}

private func readText(_ path: String) throws(ServerError) -> String {
  do throws(SystemError) {
    return String(decoding: try ReadableFile.contents(path), as: UTF8.self)
  } catch {
    throw .unreadable(path, error)
  }
}
