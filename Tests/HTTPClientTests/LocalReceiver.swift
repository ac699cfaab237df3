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

  /// Speaks SMTP on the next connection, with the given reply to RCPT.
  func takeMail(replyToRecipient reply: String) {
    DispatchQueue.global().async {
      let socket = self.accepted()
      func say(_ line: String) {
        let bytes = Array("\(line)\r\n".utf8)
        _ = unsafe send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      }
      say("220 mail.example.com ESMTP")
      var command = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = unsafe recv(socket, &command, command.count, 0)
        guard count > 0 else { break }
        switch String(decoding: command.prefix(4), as: UTF8.self) {
        case "RCPT": say(reply)
        case "QUIT": say("221 Bye")
        default: say("250 OK")
        }
      }
      close(socket)
    }
  }

  private struct NoSocket: Error {}
}
