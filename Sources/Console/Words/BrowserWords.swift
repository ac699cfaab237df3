import Synchronization

/// Names browsers by their user agent.
enum BrowserWords {
  /// A cache, because matching a user agent costs more than rendering a row.
  private static let names = Mutex<[String: String]>([:])
  private static let mostNames = 500

  /// The name, such as `Firefox on Windows`, or “Unknown browser”.
  static func name(_ userAgent: String) -> String {
    known(userAgent) ?? "Unknown browser"
  }

  /// The name, such as `Firefox on Windows`; nil for an unknown user agent.
  ///
  /// User agents also name other browsers for compatibility, so the order of the list matters.
  static func known(_ userAgent: String) -> String? {
    let kept = names.withLock { $0[userAgent] }
    let name = kept ?? found(userAgent) ?? ""
    if kept == nil {
      names.withLock { names in
        // Clients choose their user agents, so the cache has to be bounded.
        if names.count >= mostNames { names = [:] }
        names[userAgent] = name
      }
    }
    return name.isEmpty ? nil : name
  }

  private static func found(_ userAgent: String) -> String? {
    let browsers = [
      ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"),
      ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("CriOS/", "Chrome"),
      ("Chromium/", "Chromium"), ("Chrome/", "Chrome"), ("Safari/", "Safari"), ("curl/", "curl"),
    ]
    let systems = [
      ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
      ("CrOS", "ChromeOS"), ("Mac OS X", "macOS"), ("Linux", "Linux"),
    ]
    let browser = browsers.first { userAgent.contains($0.0) }?.1
    let system = systems.first { userAgent.contains($0.0) }?.1
    switch (browser, system) {
    case (let browser?, let system?): return "\(browser) on \(system)"
    case (let browser?, nil): return browser
    case (nil, let system?): return "A browser on \(system)"
    case (nil, nil): return nil
    }
  }
}
