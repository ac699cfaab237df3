import Dispatch
import Foundation
import Glibc

extension LocalReceiver {
  /// Is the HTTP proxy of the next connection: opens a tunnel to a port of this machine, whatever
  /// the client asks for.
  ///
  /// - Parameters:
  ///   - port: The port.
  ///   - answer: What the client gets first; there's no tunnel unless its status is 200.
  ///   - seen: Is called with what the client sent before the tunnel.
  func takeTunnel(
    to port: Int, answer: String = "HTTP/1.1 200 Open\r\nX-Proxy: yes\r\n\r\n",
    seen: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    // Threads for itself, since others wait in those of a queue.
    Thread.detachNewThread {
      let client = self.accepted()
      defer { close(client) }
      seen(Self.head(from: client))
      Self.give(Array(answer.utf8), to: client)
      guard answer.contains(" 200 "), let server = Self.connection(to: port) else { return }
      defer { close(server) }
      let isOver = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        Self.forward(from: server, to: client)
        isOver.signal()
      }
      Self.forward(from: client, to: server)
      isOver.wait()
    }
  }

  private static func head(from socket: Int32) -> String {
    var head: [UInt8] = []
    while !head.ends(with: "\r\n\r\n".utf8), let next = part(of: socket, atMost: 1) { head += next }
    return String(decoding: head, as: UTF8.self)
  }

  private static func part(of socket: Int32, atMost most: Int) -> ArraySlice<UInt8>? {
    var part = [UInt8](repeating: 0, count: most)
    let count = unsafe recv(socket, &part, part.count, 0)
    return count > 0 ? part[..<count] : nil
  }

  private static func give(_ bytes: [UInt8], to socket: Int32) {
    _ = unsafe send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Forwards bytes until there are no more, and then says so.
  private static func forward(from source: Int32, to target: Int32) {
    while let next = part(of: source, atMost: 65_536) { give(Array(next), to: target) }
    shutdown(target, Int32(SHUT_WR))
  }

  private static func connection(to port: Int) -> Int32? {
    let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe connect(connection, address, size)
      }
    }
    guard result == 0 else {
      close(connection)
      return nil
    }
    return connection
  }
}

extension [UInt8] {
  fileprivate func ends(with bytes: some BidirectionalCollection<UInt8>) -> Bool {
    suffix(bytes.count).elementsEqual(bytes)
  }
}
