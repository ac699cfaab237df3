import Dispatch
import Glibc

/// A server on this machine that accepts connections.
final class LocalReceiver: Sendable {
  private let listener: Int32
  let port: Int

  init() throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let (listener, length) = (listener, size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(listener, address, length) == 0 && listen(listener, 1) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    guard isBound else { throw NoSocket() }
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  deinit { close(listener) }

  func accepted() -> Int32 { accept(listener, nil, nil) }

  /// Answers the next request with a text, and closes the connection.
  func answerOnce(_ text: String) {
    DispatchQueue.global().async {
      let socket = self.accepted()
      var request = [UInt8](repeating: 0, count: 4_096)
      _ = unsafe recv(socket, &request, request.count, 0)
      let answer = Array(text.utf8)
      _ = unsafe send(socket, answer, answer.count, 0)
      close(socket)
    }
  }

  private struct NoSocket: Error {}
}
