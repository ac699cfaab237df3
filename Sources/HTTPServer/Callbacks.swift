import CMicroHTTPD
import Glibc

/// The callbacks that libmicrohttpd runs on its own threads.
///
/// The context is an `Engine`, which lives as long as the daemon. Each connection holds a
/// `Connection` and each request an `Exchange`, both retained.
enum Callbacks {
  /// Called when a connection was accepted or is about to close.
  static let notice: MHD_NotifyConnectionCallback = { context, raw, slot, code in
    guard let context = unsafe context, let raw = unsafe raw, let slot = unsafe slot else { return }
    let engine = unsafe Unmanaged<Engine>.fromOpaque(context).takeUnretainedValue()
    if code == MHD_ConnectionNotificationCode.CONNECTION_NOTIFY_STARTED {
      guard let connection = unsafe engine.connections.find(socket: engine_socket(raw)) else {
        return
      }
      unsafe slot.pointee = Unmanaged.passRetained(connection).toOpaque()
    } else if let held = unsafe slot.pointee {
      let connection = unsafe Unmanaged<Connection>.fromOpaque(held).takeRetainedValue()
      unsafe slot.pointee = nil
      engine.connections.remove(connection)
    }
  }

  /// Called when a request line was read; its result becomes the slot of `handle`.
  static let begin:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?)
      -> UnsafeMutableRawPointer? = { context, target, raw in
        guard let context = unsafe context, let target = unsafe target, let raw = unsafe raw,
          let held = unsafe engine_connection_context(raw)
        else { return nil }
        let engine = unsafe Unmanaged<Engine>.fromOpaque(context).takeUnretainedValue()
        let connection = unsafe Unmanaged<Connection>.fromOpaque(held).takeUnretainedValue()
        let exchange = unsafe engine.begin(raw, connection, target: String(cString: target))
        return unsafe Unmanaged.passRetained(exchange).toOpaque()
      }

  /// Called when a header, part of a body, or its end was read, or when a suspended connection
  /// resumes.
  static let handle: MHD_AccessHandlerCallback = {
    context, raw, _, method, version, data, size, slot in
    guard let context = unsafe context, let raw = unsafe raw, let held = unsafe slot?.pointee else {
      return MHD_Result.NO
    }
    let engine = unsafe Unmanaged<Engine>.fromOpaque(context).takeUnretainedValue()
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(held).takeUnretainedValue()
    return unsafe engine.advance(
      exchange, raw, method: method, version: version, data: data, size: size)
  }

  /// Called when a request was answered or abandoned.
  static let complete: MHD_RequestCompletedCallback = { context, _, slot, code in
    guard let context = unsafe context, let slot = unsafe slot, let held = unsafe slot.pointee
    else {
      return
    }
    unsafe slot.pointee = nil
    let engine = unsafe Unmanaged<Engine>.fromOpaque(context).takeUnretainedValue()
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(held).takeRetainedValue()
    engine.complete(
      exchange, isComplete: code == MHD_RequestTerminationCode.REQUEST_TERMINATED_COMPLETED_OK)
  }
}
