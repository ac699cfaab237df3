import Dispatch
import Glibc
import HTTPServer
import Testing

/// Tests for notifications to the service manager, with a real socket.
struct ServiceManagerTests {
  /// A socket that receives datagrams, as that of a service manager.
  private struct Receiver: ~Copyable {
    let descriptor: Int32

    init(_ name: String) {
      descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let bytes = Array(name.utf8).map { $0 == UInt8(ascii: "@") ? 0 : $0 }
      unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
      let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
      let bound = unsafe withUnsafePointer(to: &address) { address in
        unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          unsafe bind(descriptor, address, size)
        }
      }
      precondition(bound == 0)
    }

    deinit { close(descriptor) }

    /// Returns the next datagram, or an empty text when none has arrived.
    func next() -> String {
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
  }

  @Test func `each state is one datagram`() throws {
    let folder = try TemporaryFolder()
    let name = folder.path + "/notify"
    let receiver = Receiver(name)
    let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": name]))
    manager.report(.ready)
    manager.report(.alive)
    manager.report(.stopping(within: .seconds(325)))
    manager.report(.starting(within: .milliseconds(1_500)))
    let states = (0..<4).map { _ in receiver.next() }
    #expect(
      states == [
        "READY=1", "WATCHDOG=1", "STOPPING=1\nEXTEND_TIMEOUT_USEC=325000000",
        "EXTEND_TIMEOUT_USEC=1500000",
      ])
  }

  @Test func `a reload names its time on the monotonic clock`() throws {
    let folder = try TemporaryFolder()
    let name = folder.path + "/notify"
    let receiver = Receiver(name)
    let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": name]))
    manager.report(.reloading)
    let lines = receiver.next().split(separator: "\n")
    #expect(lines.first == "RELOADING=1")
    let time = lines.last?.split(separator: "=").last.flatMap { Int64($0) }
    #expect(lines.count == 2 && (time ?? 0) > 0)
  }

  @Test func `a name that starts with an at sign is an abstract socket`() throws {
    let name = "@countersign-test-\(getpid())"
    let receiver = Receiver(name)
    let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": name]))
    manager.report(.ready)
    #expect(receiver.next() == "READY=1")
  }

  @Test func `signs of life are sent twice per watchdog interval, to this process only`()
    async throws
  {
    let name = "@countersign-watchdog-\(getpid())"
    let receiver = Receiver(name)
    var environment = [
      "NOTIFY_SOCKET": name, "WATCHDOG_USEC": "20000", "WATCHDOG_PID": "\(getpid())",
    ]
    let manager = try #require(ServiceManager(environment: environment))
    let task = Task { await manager.keepAlive() }
    // Waits for them as long as a busy machine needs.
    var signs: [String] = []
    for _ in 0..<100 where signs.count < 2 {
      try await Task.sleep(for: .milliseconds(20))
      let sign = receiver.next()
      if !sign.isEmpty { signs.append(sign) }
    }
    task.cancel()
    await task.value
    #expect(signs == ["WATCHDOG=1", "WATCHDOG=1"])
    environment["WATCHDOG_PID"] = "1"
    #expect(ServiceManager(environment: environment)?.watchdog == nil)
  }

  @Test func `a start is extended until it's complete`() async throws {
    let name = "@countersign-start-\(getpid())"
    let receiver = Receiver(name)
    let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": name]))
    let task = Task { await manager.keepStarting(for: .milliseconds(80)) }
    var states: [String] = []
    for _ in 0..<100 where states.count < 3 {
      try await Task.sleep(for: .milliseconds(20))
      let state = receiver.next()
      if !state.isEmpty { states.append(state) }
    }
    task.cancel()
    await task.value
    #expect(states == [String](repeating: "EXTEND_TIMEOUT_USEC=80000", count: 3))
  }

  @Test(arguments: ["", "relative", "@" + String(repeating: "a", count: 108)])
  func `a name that can't be a socket is ignored`(name: String) {
    #expect(ServiceManager(environment: ["NOTIFY_SOCKET": name]) == nil)
  }

  @Test func `a service manager that doesn't listen is ignored`() {
    ServiceManager(environment: ["NOTIFY_SOCKET": "/nowhere/notify"])?.report(.ready)
    #expect(ServiceManager(environment: [:]) == nil)
  }
}
