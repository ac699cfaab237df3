import CMicroHTTPD
import Compression
import Glibc
import HTTP
import Synchronization
import Text

/// The state and logic behind the callbacks of one server.
final class Engine: Sendable {
  /// Creates the response to a request that doesn't reach the handler.
  typealias FailureResponse = @Sendable (Status, Target?, RequestID) -> Response
  /// Returns the refusal of a request with a large body, by its header; nil if it may be read.
  typealias BodyRefusal = @Sendable (Request) async -> Response?

  let configuration: ServerConfiguration
  let handler: @Sendable (Request) async -> Response
  let failure: FailureResponse
  private let refusal: BodyRefusal?
  let log: AccessLog?
  let observe: RequestObserver?
  let connections: Connections
  let lingering: Lingering
  let isStopping = Atomic<Bool>(false)
  /// Whether suspended handlers are given up, also those that suspend from now on.
  private let isGivingUp = Atomic<Bool>(false)
  private let bodies: BodyMemory
  let limits: Limits
  private let requests = Atomic(UInt64.random(in: 0..<1 << 60))

  init(
    _ configuration: ServerConfiguration, log: AccessLog?, observe: RequestObserver?,
    failure: @escaping FailureResponse, refusal: BodyRefusal?,
    handler: @escaping @Sendable (Request) async -> Response
  ) throws(ServerError) {
    self.configuration = configuration
    self.log = log
    self.observe = observe
    self.failure = failure
    self.refusal = refusal
    self.handler = handler
    limits = configuration.limits
    connections = Connections(
      threads: configuration.threads, mostPerNetwork: max(limits.connectionsPerNetwork, 1),
      uncounted: configuration.trustedProxies)
    lingering = try Lingering(connections)
    bodies = BodyMemory(atMost: limits.bodiesTogether, longestSmall: limits.unverifiedBody)
  }

  // MARK: - Requests

  /// Begins an exchange when a request line was read.
  func begin(_ raw: OpaquePointer, _ connection: Connection, target: String) -> Exchange {
    connection.begin()
    let id = RequestID(scramble(requests.wrappingAdd(1, ordering: .relaxed).newValue))
    return unsafe Exchange(connection: connection, id: id, rawTarget: target, raw: raw)
  }

  /// Maps consecutive numbers to distinct numbers spread over 60 bits.
  private func scramble(_ number: UInt64) -> UInt64 {
    let mask: UInt64 = 1 << 60 - 1
    let spread = number &* 0x9E37_79B9_7F4A_7C15 & mask
    return spread ^ spread >> 29
  }

  /// Processes a callback for a request: its header, part of its body, or the end of the body.
  func advance(
    _ exchange: Exchange, _ raw: OpaquePointer, method: UnsafePointer<CChar>?,
    version: UnsafePointer<CChar>?, data: UnsafePointer<CChar>?, size: UnsafeMutablePointer<Int>?
  ) -> MHD_Result {
    while true {
      if exchange.isAsking {
        guard let outcome = exchange.advance() else {
          // As in `proceed`.
          if isGivingUp.load(ordering: .acquiring) { giveUp(exchange) }
          return MHD_Result.YES
        }
        exchange.isAsking = false
        exchange.connection.suspended.withLock { $0 = nil }
        switch outcome {
        case .admitted: exchange.isAdmitted = true
        case .response(let refusal):
          guard exchange.step == .body, let size = unsafe size, unsafe size.pointee > 0 else {
            return unsafe refuse(refusal, exchange, raw)
          }
          drop(exchange, refusal)
        }
      }
      // Once the header vouches for the body, the step that asked runs again.
      let result = unsafe step(exchange, raw, method: method, version: version, data, size)
      if !exchange.isAsking { return result }
    }
  }

  private func step(
    _ exchange: Exchange, _ raw: OpaquePointer, method: UnsafePointer<CChar>?,
    version: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?
  ) -> MHD_Result {
    switch exchange.step {
    case .header:
      return unsafe readHeader(exchange, raw, method: method, version: version)
    case .body, .excess:
      guard let size = unsafe size, unsafe size.pointee > 0 else {
        return unsafe dispatch(exchange, raw)
      }
      let part = unsafe UnsafeRawBufferPointer(start: data, count: size.pointee)
      if unsafe readBody(exchange, part) { unsafe size.pointee = 0 }
      return MHD_Result.YES
    case .answering:
      return unsafe proceed(exchange, raw)
    case .answered:
      return MHD_Result.YES
    }
  }

  /// Asks whether the header vouches for a body above `limits.unverifiedBody`.
  private func ask(_ exchange: Exchange, _ target: Target) {
    exchange.isAsking = true
    guard let refusal else {
      return exchange.finish(failure(.contentTooLarge, target, exchange.id))
    }
    let request = request(exchange, target)
    startClock(exchange)
    Task.immediate(executorPreference: exchange) {
      if let response = await refusal(request) {
        exchange.finish(response)
      } else {
        exchange.admit()
      }
    }
  }

  /// Returns a request with as much of its body as has arrived.
  private func request(_ exchange: Exchange, _ target: Target) -> Request {
    Request(
      method: exchange.method, target: target, fields: exchange.fields, body: exchange.body,
      peer: exchange.peer, isSecure: exchange.isSecure, id: exchange.id)
  }

  private func readHeader(
    _ exchange: Exchange, _ raw: OpaquePointer, method: UnsafePointer<CChar>?,
    version: UnsafePointer<CChar>?
  ) -> MHD_Result {
    guard let method = unsafe method, let version = unsafe version else { return MHD_Result.NO }
    let header = unsafe HeaderReader(raw, version: String(cString: version))
    exchange.method = unsafe Method(String(cString: method))
    exchange.fields = header.fields
    exchange.target = Target(exchange.rawTarget)
    let origin = Origin(of: exchange, configuration)
    exchange.peer = origin.peer
    exchange.network = origin.network
    exchange.isSecure = origin.isSecure
    exchange.proxyID = origin.proxyID
    if exchange.rawTarget.utf8.count > limits.target {
      return unsafe refuse(.targetTooLong, exchange, raw)
    }
    if unsafe engine_header_size(raw) > limits.headers {
      return unsafe refuse(.fieldsTooLarge, exchange, raw)
    }
    guard let target = exchange.target, let framing = header.framing else {
      return unsafe refuse(.badRequest, exchange, raw)
    }
    if header.expectsTheUnknown { return unsafe refuse(.expectationFailed, exchange, raw) }
    guard framing != .none, framing != .length(0) else {
      exchange.step = .body
      exchange.connection.expire(at: Connection.never)
      return MHD_Result.YES
    }
    exchange.bodyLimit = limits.body(target)
    if exchange.bodyStart == 0 {
      exchange.bodyStart = SystemClock.coarseMilliseconds()
      exchange.connection.receive(since: exchange.bodyStart)
      exchange.connection.expire(at: exchange.bodyStart + limits.time(forBody: 0))
    }
    guard case .length(let length) = framing else {
      // What follows isn't read as a request, wherever others see the end of the chunks.
      exchange.isLast = true
      exchange.step = .body
      return MHD_Result.YES
    }
    if length > exchange.bodyLimit { return unsafe refuse(.contentTooLarge, exchange, raw) }
    if isUnverified(exchange, length) {
      ask(exchange, target)
      return MHD_Result.YES
    }
    guard hold(length, exchange) else { return unsafe refuse(.serviceUnavailable, exchange, raw) }
    exchange.body.reserveCapacity(min(length, 64 << 10))
    exchange.step = .body
    return MHD_Result.YES
  }

  /// Returns whether a body of a number of bytes needs a header that vouches for it.
  private func isUnverified(_ exchange: Exchange, _ size: Int) -> Bool {
    size > limits.unverifiedBody && !exchange.isAdmitted
  }

  /// Counts a number of bytes as those that an exchange holds; returns false if there's no room.
  private func hold(_ size: Int, _ exchange: Exchange) -> Bool {
    guard bodies.change(from: exchange.held, to: size, of: exchange.network) else { return false }
    exchange.held = size
    return true
  }

  /// Reads part of a body; returns false if it's to be passed again.
  private func readBody(_ exchange: Exchange, _ part: UnsafeRawBufferPointer) -> Bool {
    guard exchange.step == .body, let target = exchange.target else { return true }
    let received = exchange.received + part.count
    // Only a body without an announced length gets this far.
    if received > exchange.bodyLimit {
      drop(exchange, failure(.contentTooLarge, target, exchange.id))
      return true
    }
    if isUnverified(exchange, received) {
      ask(exchange, target)
      return false
    }
    guard received <= exchange.held || hold(received, exchange) else {
      drop(exchange, failure(.serviceUnavailable, target, exchange.id))
      return true
    }
    exchange.received = received
    exchange.connection.expire(at: exchange.bodyStart + limits.time(forBody: received))
    unsafe exchange.body.append(contentsOf: part)
    return true
  }

  /// Discards the body received so far, and the rest of it as it arrives: the engine can't respond
  /// before its end.
  private func drop(_ exchange: Exchange, _ refusal: Response) {
    exchange.step = .excess
    exchange.refusal = refusal
    exchange.body = []
    _ = hold(0, exchange)
    exchange.connection.expire(
      at: SystemClock.coarseMilliseconds() + limits.bodyDeadline.milliseconds)
  }

  /// Decompresses a body with `Content-Encoding: gzip`, within the limits of one that isn't
  /// compressed; returns the status if it can't be read.
  private func decode(_ exchange: Exchange, _ target: Target) -> Status? {
    let codings = exchange.fields.all(.contentEncoding)
    guard !codings.isEmpty, !exchange.body.isEmpty else { return nil }
    guard codings.count == 1 else { return .unsupportedMediaType }
    let isPlain = codings[0].isEmpty || codings[0].isSameToken(as: "identity")
    guard isPlain || ["gzip", "x-gzip"].contains(where: { codings[0].isSameToken(as: $0) }) else {
      return .unsupportedMediaType
    }
    if !isPlain {
      let most =
        exchange.isAdmitted ? exchange.bodyLimit : min(exchange.bodyLimit, limits.unverifiedBody)
      do throws(GunzipError) {
        let body = try gunzip(exchange.body, atMost: most)
        guard hold(body.count, exchange) else { return .serviceUnavailable }
        exchange.body = body
      } catch {
        switch error {
        case .malformed: return .badRequest
        case .tooLarge where most == exchange.bodyLimit: return .contentTooLarge
        case .tooLarge:
          ask(exchange, target)
          return nil
        }
      }
    }
    exchange.fields[.contentEncoding] = nil
    return nil
  }

  private func dispatch(_ exchange: Exchange, _ raw: OpaquePointer) -> MHD_Result {
    exchange.connection.serve()
    exchange.connection.expire(at: Connection.never)
    if let refusal = exchange.refusal { return unsafe refuse(refusal, exchange, raw) }
    guard let target = exchange.target else { return unsafe refuse(.badRequest, exchange, raw) }
    if let refusal = decode(exchange, target) { return unsafe refuse(refusal, exchange, raw) }
    if exchange.isAsking { return MHD_Result.YES }
    exchange.step = .answering
    let request = request(exchange, target)
    exchange.fields = Fields()
    exchange.body = []
    let handler = handler
    startClock(exchange)
    Task.immediate(executorPreference: exchange) { exchange.finish(await handler(request)) }
    return unsafe proceed(exchange, raw)
  }

  private func proceed(_ exchange: Exchange, _ raw: OpaquePointer) -> MHD_Result {
    if case .response(let response)? = exchange.advance() {
      return unsafe send(response, exchange, raw)
    }
    // `giveUpSuspended` either found this exchange or set the flag before it was suspended.
    if isGivingUp.load(ordering: .acquiring) { giveUp(exchange) }
    return MHD_Result.YES
  }

  /// Responds to all requests with suspended handlers, now and from now on.
  ///
  /// Must be called before the threads stop, since the engine aborts for a suspended connection.
  func giveUpSuspended() {
    isGivingUp.store(true, ordering: .releasing)
    for exchange in connections.suspended() { giveUp(exchange) }
  }

  /// Responds to requests whose suspended handlers have taken too long.
  func giveUpLate(at now: UInt64) {
    for exchange in connections.suspended(where: { $0.due.load(ordering: .relaxed) < now }) {
      giveUp(exchange)
    }
  }

  private func startClock(_ exchange: Exchange) {
    exchange.due.store(
      SystemClock.coarseMilliseconds() + limits.handlerDeadline.milliseconds, ordering: .relaxed)
  }

  private func giveUp(_ exchange: Exchange) {
    exchange.finish(failure(.serviceUnavailable, exchange.target, exchange.id))
  }

  // MARK: - Responses

  /// Responds instead of the handler, and closes the connection, since what follows may not be a
  /// request.
  private func refuse(_ status: Status, _ exchange: Exchange, _ raw: OpaquePointer) -> MHD_Result {
    let target = exchange.target ?? Target.beginning(of: exchange.rawTarget)
    return unsafe refuse(failure(status, target, exchange.id), exchange, raw)
  }

  private func refuse(_ response: Response, _ exchange: Exchange, _ raw: OpaquePointer)
    -> MHD_Result
  {
    exchange.isLast = true
    exchange.isEarly = exchange.step == .header && exchange.bodyStart > 0
    return unsafe send(response, exchange, raw)
  }

  private func send(_ response: Response, _ exchange: Exchange, _ raw: OpaquePointer) -> MHD_Result
  {
    exchange.step = .answered
    exchange.status = response.status.code
    exchange.route = response.route
    let hasBody =
      exchange.method != .head && response.status != .notModified && response.status != .noContent
    exchange.sent = hasBody ? response.body.count : 0
    exchange.connection.expire(
      at: SystemClock.coarseMilliseconds() + limits.writeDeadline.milliseconds
        + limits.grant(forBytes: exchange.sent))
    if isStopping.load(ordering: .relaxed) || connections.isRetired(exchange.connection) {
      exchange.isLast = true
    }
    return unsafe Answer.queue(response, on: raw, hasBody: hasBody, andClose: exchange.isLast)
  }

  /// Ends an exchange, whether it succeeded or not.
  func complete(_ exchange: Exchange, isComplete: Bool) {
    exchange.close()
    _ = hold(0, exchange)
    if isComplete, exchange.isEarly {
      lingering.add(exchange.connection, for: limits.bodyDeadline.milliseconds)
    } else {
      if exchange.isLast || !isComplete { exchange.connection.drain() }
      let now = SystemClock.coarseMilliseconds()
      exchange.connection.wait(since: now, until: now + limits.idle.milliseconds)
    }
    observe?(exchange.route, exchange.status, SystemClock.nanoseconds() - exchange.start)
    log?.record(exchange, isComplete: isComplete)
  }
}
