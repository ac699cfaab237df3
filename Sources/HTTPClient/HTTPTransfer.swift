import CCurl

/// One request, sent with a separate handle.
struct HTTPTransfer: Sendable {
  let request: ClientRequest
  let exchange: HTTPExchange
  let limits: HTTPClient.Limits
  let authority: String?

  func run() -> Result<ClientResponse, HTTPClientError> {
    guard Curl.isPrepared, let handle = unsafe curl_easy_init() else {
      return .failure(.unreachable("libcurl can't start."))
    }
    defer { unsafe curl_easy_cleanup(handle) }
    var headers: UnsafeMutablePointer<curl_slist>? = nil
    defer { unsafe curl_slist_free_all(headers) }
    // libcurl would wait for "100 Continue" before it sends a large body.
    for line in request.fields.map({ "\($0.name): \($0.value)" }) + ["Expect:"] {
      unsafe headers = curl_slist_append(headers, line)
    }
    var endpoint: UnsafeMutablePointer<curl_slist>? = nil
    defer { unsafe curl_slist_free_all(endpoint) }
    if case .endpoint(let other) = request.route {
      // From any host and port.
      unsafe endpoint = curl_slist_append(nil, "::\(other.text)")
      guard unsafe endpoint != nil else { return .failure(.unreachable("libcurl can't start.")) }
    }
    var error = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
    let code = unsafe perform(handle, headers, endpoint, error: &error)
    if code == CURLE_OK || exchange.isAnswered {
      return .success(
        ClientResponse(status: exchange.status, fields: exchange.fields, body: exchange.body))
    }
    return .failure(HTTPClientError(code, Curl.description(of: code, error), exchange))
  }

  private var proxy: String? {
    if case .proxy(let endpoint) = request.route { "http://\(endpoint.text)" } else { nil }
  }

  private func perform(
    _ handle: UnsafeMutableRawPointer, _ headers: UnsafeMutablePointer<curl_slist>?,
    _ endpoint: UnsafeMutablePointer<curl_slist>?, error: inout [CChar]
  ) -> CURLcode {
    var settings = unsafe http_settings()
    unsafe settings.headers = headers
    unsafe settings.connect_to = endpoint
    unsafe settings.connect_seconds = limits.connectSeconds
    unsafe settings.whole_seconds = limits.wholeSeconds
    unsafe settings.head = httpHeader
    unsafe settings.content = httpBody
    unsafe settings.progress = httpProgress
    unsafe settings.open = httpOpenSocket
    unsafe settings.size = curl_off_t(request.body?.count ?? 0)
    let texts = [
      request.url.text, request.url.isSecure ? "https" : "http", request.method.rawValue, authority,
      proxy,
    ]
    // An empty body needs a pointer, too.
    let body = request.body.map { $0 + [0] }
    return withExtendedLifetime(exchange) {
      unsafe settings.context = Unmanaged.passUnretained(exchange).toOpaque()
      return unsafe Curl.withTexts(texts) { texts in
        unsafe settings.url = texts[0]
        unsafe settings.protocols = texts[1]
        unsafe settings.method = texts[2]
        unsafe settings.authority = texts[3]
        unsafe settings.proxy = texts[4]
        return unsafe error.withUnsafeMutableBufferPointer { buffer in
          unsafe settings.error = buffer.baseAddress
          func send(_ body: UnsafeRawPointer?) -> CURLcode {
            unsafe settings.body = body
            return unsafe perform_prepared(handle, http_prepare(handle, &settings))
          }
          guard let body else { return send(nil) }
          return unsafe body.withUnsafeBytes { unsafe send($0.baseAddress) }
        }
      }
    }
  }
}

extension HTTPClientError {
  init(_ code: CURLcode, _ text: String, _ exchange: HTTPExchange) {
    guard !exchange.isTooLarge else {
      self = .tooLarge
      return
    }
    switch code {
    case CURLE_ABORTED_BY_CALLBACK: self = .canceled
    case CURLE_COULDNT_RESOLVE_HOST: self = .unresolved
    case CURLE_OPERATION_TIMEDOUT: self = .timedOut
    case CURLE_COULDNT_CONNECT where exchange.isRefused: self = .addressRefused
    case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_PROXY: self = .unreachable(text)
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_ISSUER_ERROR:
      self = .untrusted(text)
    default: self = .interrupted(text)
    }
  }
}
