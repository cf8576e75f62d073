package com.example.orders;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * The application: orders in a database, and two jobs over them.
 */
@SpringBootApplication(exclude = DataRedisAutoConfiguration.class)
@EnableScheduling
class OrdersApplication {

}
