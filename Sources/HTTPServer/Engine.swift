import CMicroHTTPD
import Glibc
import HTTP
import Synchronization
import Text

/// The state and logic behind the callbacks of one server.
final class Engine: Sendable {
  /// Creates the response to a request that doesn't reach the handler.
  typealias FailureResponse = @Sendable (Status, Target?, RequestID) -> Response

  let configuration: ServerConfiguration
  let handler: @Sendable (Request) async -> Response
  let failure: FailureResponse
  let log: AccessLog?
  let observe: RequestObserver?
  let connections: Connections
  let isStopping = Atomic<Bool>(false)
  /// Whether suspended handlers are given up, also those that suspend from now on.
  private let isGivingUp = Atomic<Bool>(false)
  /// The total size of request bodies held, in bytes.
  private let bodies = Atomic<Int>(0)
  let limits: Limits
  private let requests = Atomic(UInt64.random(in: 0..<1 << 60))

  /// How much of an oversized body is read and discarded, so that the client reads the response.
  private static let discardedAtMost = 16 << 20

  init(
    _ configuration: ServerConfiguration, log: AccessLog?, observe: RequestObserver?,
    failure: @escaping FailureResponse, handler: @escaping @Sendable (Request) async -> Response
  ) {
    self.configuration = configuration
    self.log = log
    self.observe = observe
    self.failure = failure
    self.handler = handler
    limits = configuration.limits
    connections = Connections(
      threads: configuration.threads, mostPerNetwork: max(limits.connectionsPerNetwork, 1),
      uncounted: configuration.trustedProxies)
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
    switch exchange.step {
    case .header:
      return unsafe readHeader(exchange, raw, method: method, version: version)
    case .body, .excess:
      guard let size = unsafe size, unsafe size.pointee > 0 else {
        return unsafe dispatch(exchange, raw)
      }
      let part = unsafe UnsafeRawBufferPointer(start: data, count: size.pointee)
      unsafe size.pointee = 0
      return unsafe readBody(exchange, part) ? MHD_Result.YES : MHD_Result.NO
    case .answering:
      return unsafe proceed(exchange, raw)
    case .answered:
      return MHD_Result.YES
    }
  }

  private func readHeader(
    _ exchange: Exchange, _ raw: OpaquePointer, method: UnsafePointer<CChar>?,
    version: UnsafePointer<CChar>?
  ) -> MHD_Result {
    guard let method = unsafe method, let version = unsafe version else { return MHD_Result.NO }
    exchange.connection.serve()
    let header = unsafe HeaderReader(raw, version: String(cString: version))
    exchange.method = unsafe Method(String(cString: method))
    exchange.fields = header.fields
    exchange.target = Target(exchange.rawTarget)
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
    exchange.step = .body
    guard framing != .none, framing != .length(0) else {
      exchange.connection.expire(at: Connection.never)
      return MHD_Result.YES
    }
    exchange.bodyLimit = limits.body(target)
    exchange.bodyStart = SystemClock.coarseMilliseconds()
    exchange.connection.expire(at: exchange.bodyStart + limits.bodyDeadline.milliseconds)
    guard case .length(let length) = framing else {
      // What follows isn't read as a request, wherever others see the end of the chunks.
      exchange.isLast = true
      return MHD_Result.YES
    }
    if length > exchange.bodyLimit {
      exchange.step = .excess
      if exchange.fields[.expect] != nil || length > Engine.discardedAtMost {
        return unsafe refuse(.contentTooLarge, exchange, raw)
      }
    } else {
      exchange.body.reserveCapacity(min(length, 64 << 10))
    }
    return MHD_Result.YES
  }

  /// Reads part of a body; returns false when the connection must be closed.
  private func readBody(_ exchange: Exchange, _ part: UnsafeRawBufferPointer) -> Bool {
    exchange.received += part.count
    exchange.connection.expire(
      at: exchange.bodyStart + limits.bodyDeadline.milliseconds
        + limits.grant(forBytes: exchange.received))
    if exchange.step == .body {
      exchange.held += part.count
      let (_, together) = bodies.add(part.count, ordering: .relaxed)
      let isTooLong = exchange.received > exchange.bodyLimit
      if !isTooLong, together <= limits.bodiesTogether {
        unsafe exchange.body.append(contentsOf: part)
        return true
      }
      exchange.refusal = isTooLong ? .contentTooLarge : .serviceUnavailable
      drop(exchange)
    }
    return exchange.received - exchange.bodyLimit <= Engine.discardedAtMost
  }

  /// Discards the body received so far, and the rest of it as it arrives.
  private func drop(_ exchange: Exchange) {
    exchange.step = .excess
    exchange.body = []
    bodies.subtract(exchange.held, ordering: .relaxed)
    exchange.held = 0
  }

  /// Decompresses a body with `Content-Encoding: gzip`, within the limits of one that isn't
  /// compressed; returns the status if it can't be read.
  private func decode(_ exchange: Exchange) -> Status? {
    let codings = exchange.fields.all(.contentEncoding)
    guard !codings.isEmpty, !exchange.body.isEmpty else { return nil }
    guard codings.count == 1, codings[0].isSameToken(as: "gzip") else {
      return .unsupportedMediaType
    }
    do throws(GunzipError) {
      let body = try gunzip(exchange.body, atMost: exchange.bodyLimit)
      exchange.held += body.count
      let (_, together) = bodies.add(body.count, ordering: .relaxed)
      guard together <= limits.bodiesTogether else {
        drop(exchange)
        return .serviceUnavailable
      }
      exchange.body = body
      exchange.fields[.contentEncoding] = nil
      return nil
    } catch {
      return switch error {
      case .malformed: .badRequest
      case .tooLarge: .contentTooLarge
      }
    }
  }

  /// Starts the handler on this thread once the request is complete.
  private func dispatch(_ exchange: Exchange, _ raw: OpaquePointer) -> MHD_Result {
    exchange.connection.expire(at: Connection.never)
    guard exchange.step == .body, let target = exchange.target else {
      return unsafe refuse(exchange.refusal, exchange, raw)
    }
    if let refusal = decode(exchange) { return unsafe refuse(refusal, exchange, raw) }
    exchange.step = .answering
    let origin = Origin(of: exchange, configuration)
    exchange.peer = origin.peer
    exchange.proxyID = origin.proxyID
    let request = Request(
      method: exchange.method, target: target, fields: exchange.fields, body: exchange.body,
      peer: origin.peer, isSecure: origin.isSecure, id: exchange.id)
    exchange.fields = Fields()
    exchange.body = []
    let handler = handler
    Task.immediate(executorPreference: exchange) { exchange.finish(await handler(request)) }
    return unsafe proceed(exchange, raw)
  }

  /// Runs the handler until it responds or is suspended.
  private func proceed(_ exchange: Exchange, _ raw: OpaquePointer) -> MHD_Result {
    if let response = exchange.advance() { return unsafe send(response, exchange, raw) }
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

  private func giveUp(_ exchange: Exchange) {
    exchange.finish(failure(.serviceUnavailable, exchange.target, exchange.id))
  }

  // MARK: - Responses

  /// Responds instead of the handler, and closes the connection, since what follows may not be a
  /// request.
  private func refuse(_ status: Status, _ exchange: Exchange, _ raw: OpaquePointer) -> MHD_Result {
    let target = exchange.target ?? Target.beginning(of: exchange.rawTarget)
    exchange.isLast = true
    return unsafe send(failure(status, target, exchange.id), exchange, raw)
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
    if exchange.held > 0 { bodies.subtract(exchange.held, ordering: .relaxed) }
    if exchange.isLast || !isComplete { exchange.connection.drain() }
    let now = SystemClock.coarseMilliseconds()
    exchange.connection.wait(since: now, until: now + limits.idle.milliseconds)
    observe?(exchange.route, exchange.status, SystemClock.nanoseconds() - exchange.start)
    log?.record(exchange, isComplete: isComplete)
  }
}
