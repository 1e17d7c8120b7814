// Go as its users write it: gorilla/websocket with prepared messages, and a Redis subscription that feeds them.
package main

import (
	"log"
	"net/http"
	"os"
	"sync"

	"github.com/gomodule/redigo/redis"
	"github.com/gorilla/websocket"
)

// How many messages may wait for a client before it is dropped.
const waiting = 16

var (
	deflate  = os.Getenv("DEFLATE") == "1"
	upgrader = websocket.Upgrader{EnableCompression: deflate, CheckOrigin: func(*http.Request) bool { return true }}
	mutex    sync.Mutex
	clients  = map[chan *websocket.PreparedMessage]struct{}{}
)

func serve(response http.ResponseWriter, request *http.Request) {
	connection, err := upgrader.Upgrade(response, request, nil)
	if err != nil {
		return
	}
	messages := make(chan *websocket.PreparedMessage, waiting)
	mutex.Lock()
	clients[messages] = struct{}{}
	mutex.Unlock()
	go write(connection, messages)
	for {
		if _, _, err := connection.NextReader(); err != nil {
			drop(messages)
			return
		}
	}
}

func write(connection *websocket.Conn, messages chan *websocket.PreparedMessage) {
	defer connection.Close()
	for message := range messages {
		if connection.WritePreparedMessage(message) != nil {
			return
		}
	}
}

func drop(messages chan *websocket.PreparedMessage) {
	mutex.Lock()
	defer mutex.Unlock()
	if _, found := clients[messages]; found {
		delete(clients, messages)
		close(messages)
	}
}

func publish(data []byte) {
	message, err := websocket.NewPreparedMessage(websocket.TextMessage, data)
	if err != nil {
		log.Fatal(err)
	}
	mutex.Lock()
	defer mutex.Unlock()
	for messages := range clients {
		select {
		case messages <- message:
		default:
			delete(clients, messages)
			close(messages)
		}
	}
}

func main() {
	connection, err := redis.DialURL(os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	subscription := redis.PubSubConn{Conn: connection}
	if err := subscription.Subscribe("quotes"); err != nil {
		log.Fatal(err)
	}
	go func() {
		for {
			switch received := subscription.Receive().(type) {
			case redis.Message:
				publish(received.Data)
			case error:
				log.Fatal(received)
			}
		}
	}()
	http.HandleFunc("/ws", serve)
	log.Fatal(http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil))
}
